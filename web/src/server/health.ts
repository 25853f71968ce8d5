// Whether the server responds, for everything on the page that depends on it.
import { type QueryClient, queryOptions, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { ApiError, sendOr } from './client'
import { HealthMonitor, type ServerState, TIMEOUT_MS } from './healthMonitor'
import type { Health } from './types'

export type { ServerState } from './healthMonitor'

// An unhealthy server responds with 503 and the same body.
const readHealth = (signal: AbortSignal) => sendOr<Health>(503, '/health', signal)

/** What the server says of itself. The monitor keeps it fresh. */
export const health = () =>
  queryOptions({
    queryKey: ['health'],
    queryFn: async ({ signal }) => {
      const timeout = AbortSignal.timeout(TIMEOUT_MS)
      try {
        return await readHealth(AbortSignal.any([signal, timeout]))
      } catch (error) {
        if (timeout.aborted && !signal.aborted) throw new ApiError(0, 'offline', 'no response from the server')
        throw error
      }
    },
    staleTime: 5000,
    retry: false,
  })

const monitors = new WeakMap<QueryClient, HealthMonitor>()

function monitorOf(client: QueryClient): HealthMonitor {
  let monitor = monitors.get(client)
  if (!monitor) {
    const sources = {
      check: readHealth,
      now: () => performance.now(),
      after: (ms: number, run: () => void) => {
        const timer = setTimeout(run, ms)
        return () => clearTimeout(timer)
      },
      isHidden: () => document.hidden,
    }
    monitor = new HealthMonitor(sources, (found) => client.setQueryData(health().queryKey, found))
    monitors.set(client, monitor)
  }
  return monitor
}

/** The state of the server, at most three seconds old while the page is visible. */
export function useServerState(): ServerState {
  const monitor = monitorOf(useQueryClient())
  return useSyncExternalStore(monitor.subscribe, monitor.state)
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
