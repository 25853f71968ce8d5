// The query cache: what was read, for how long it counts as fresh, and what is asked again.
import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './client'

/** A refusal stays one; a server that could not be reached is asked again, thrice. */
function askAgain(times: number, error: Error): boolean {
  if (error instanceof ApiError && error.status >= 400 && error.status < 500) return false
  return times < 3
}

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { staleTime: 15_000, gcTime: 10 * 60_000, retry: askAgain, refetchOnWindowFocus: true },
      mutations: { retry: false },
    },
  })
}
