// Whether the server responds, for everything on the page that depends on it.
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ApiError, sendOr } from './client'
import type { Health } from './types'

/** The interval of the checks. With `SLOW_MS`, the mark turns within three seconds. */
const CHECK_MS = 1500
/** A check without a response for this long counts as no response. */
const SLOW_MS = 1200
/** A check is abandoned after this time, so that the next one can succeed. */
const TIMEOUT_MS = 5000

export const health = () =>
  queryOptions({
    queryKey: ['health'],
    // An unhealthy server responds with 503 and the same body.
    queryFn: async ({ signal }) => {
      const timeout = AbortSignal.timeout(TIMEOUT_MS)
      try {
        return await sendOr<Health>(503, '/health', AbortSignal.any([signal, timeout]))
      } catch (error) {
        if (timeout.aborted && !signal.aborted) throw new ApiError(0, 'offline', 'no response from the server')
        throw error
      }
    },
    refetchInterval: CHECK_MS,
    staleTime: CHECK_MS,
    retry: false,
  })

/** `away`: it cannot be reached or does not respond. */
export type ServerState = 'unknown' | 'ok' | 'failing' | 'away'

/** The state of the server, at most three seconds old while the page is visible. */
export function useServerState(): ServerState {
  const { data, error, fetchStatus } = useQuery(health())
  const isChecking = fetchStatus === 'fetching'
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    if (!isChecking) return
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => {
      clearTimeout(timer)
      setSlow(false)
    }
  }, [isChecking])
  if (error || isSlow) return 'away'
  return data === undefined ? 'unknown' : data.status === 'ok' ? 'ok' : 'failing'
}

/** Fetches what failed while the server was away, as soon as it is back. Used once, by the shell. */
export function useRefetchOnReturn(state: ServerState): void {
  const client = useQueryClient()
  const wasAway = useRef(false)
  useEffect(() => {
    if (state === 'away') wasAway.current = true
    else if (wasAway.current && state !== 'unknown') {
      wasAway.current = false
      // Those that failed, and those that wait for a retry.
      void client.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' || state.fetchFailureCount > 0 })
    }
  }, [client, state])
}
