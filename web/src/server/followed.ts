// Queries of rows that come and go while a list scrolls.
import { notifyManager, type QueryKey, QueryObserver, type QueryObserverOptions, useQueryClient } from '@tanstack/react-query'
import { useCallback, useSyncExternalStore } from 'react'

/**
 * What the cache has of a query of this ID. It is fetched and refreshed only while `isFollowed`. Unlike a disabled
 * `useQuery`, a row that is only scrolled past adds no query, observer or timer.
 */
export function useFollowed<T, K extends QueryKey>(
  make: (id: string) => QueryObserverOptions<T, Error, T, T, K>,
  id: string,
  isFollowed: boolean,
  interval: (data: T | undefined) => number | false,
): { data: T | undefined; error: Error | null } {
  const client = useQueryClient()
  const subscribe = useCallback(
    (changed: () => void) => {
      if (!isFollowed) return () => undefined
      const observer = new QueryObserver(client, { ...make(id), refetchInterval: (query) => interval(query.state.data), notifyOnChangeProps: ['data', 'error'] })
      return observer.subscribe(notifyManager.batchCalls(changed))
    },
    [client, make, id, isFollowed, interval],
  )
  const state = useSyncExternalStore(subscribe, () => client.getQueryState<T>(make(id).queryKey))
  return { data: state?.data, error: state?.error ?? null }
}
