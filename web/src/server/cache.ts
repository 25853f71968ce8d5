// The query cache: freshness and retries.
import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './client'

/** Client errors are final. Anything else is retried three times. */
function shouldRetry(failures: number, error: Error): boolean {
  if (error instanceof ApiError && error.status >= 400 && error.status < 500) return false
  return failures < 3
}

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { staleTime: 15_000, gcTime: 10 * 60_000, retry: shouldRetry, refetchOnWindowFocus: true },
      mutations: { retry: false },
    },
  })
}
