import { ApiError } from '@/server/client'

/** Is it that there is nothing of the kind? */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}
