import { ApiError } from '@/server/client'

/** Whether the request failed with 404. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}
