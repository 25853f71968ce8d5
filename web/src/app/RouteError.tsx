import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { ApiError } from '@/server/client'
import { health, useServerState } from '@/server/health'
import { Failed } from '@/shared/ui/states'
import { forgetFailures, ViewUnavailable } from './lazyView'

/** A second failure within this time is not due to the connection. */
const RETRIED_MS = 5000
/** A file that is really missing must not reload the page forever. */
const MIN_RELOAD_MS = 30_000
const RELOADED_KEY = 'papertape.reloaded'

let retriedAt = -RETRIED_MS

interface Props {
  error: unknown
  reset: () => void
}

/** A view that failed. One that could not be loaded is loaded again as soon as the server responds. */
export function RouteError({ error, reset }: Props) {
  const router = useRouter()
  const client = useQueryClient()
  const state = useServerState()
  const isUnavailable = error instanceof ViewUnavailable
  const retry = useCallback(() => {
    forgetFailures()
    reset()
    void router.invalidate()
  }, [reset, router])
  useEffect(() => {
    if (!isUnavailable || state === 'away') return
    let isCurrent = true
    // The last check may be older than the failure: without a response, wait for the next change of the state.
    client.fetchQuery({ ...health(), staleTime: 0 }).then(
      () => {
        if (!isCurrent) return
        const now = performance.now()
        if (now - retriedAt >= RETRIED_MS) {
          retriedAt = now
          retry()
        } else if (Date.now() - Number(sessionStorage.getItem(RELOADED_KEY) ?? 0) >= MIN_RELOAD_MS) {
          // A server that was updated no longer has the files of this page.
          sessionStorage.setItem(RELOADED_KEY, String(Date.now()))
          location.reload()
        }
      },
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [isUnavailable, state, client, retry])
  return (
    <div className="page">
      <Failed error={isUnavailable ? new ApiError(0, 'offline', error.message) : error} retry={retry} />
    </div>
  )
}
