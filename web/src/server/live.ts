// Keeps a running job's data fresh: its stream reports a change, and the cached queries are fetched again.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from './client'
import { readStream, StreamBroken } from './stream'
import { pause } from './wait'

export type Connection = 'closed' | 'connecting' | 'live' | 'broken'

/** The minimum time between two refreshes. */
const MIN_REFRESH_MS = 700
/** How long to wait before reconnecting a broken stream. */
const RETRY_MS = 3000

/**
 * Follows a running job. When it changes, invalidates the cached queries under `key`, by default all queries of the job.
 * Returns the state of the connection.
 */
export function useLiveJob(jobId: string, running: boolean, key?: readonly unknown[]): Connection {
  const client = useQueryClient()
  const [connection, setConnection] = useState<Connection>('closed')
  const keyRef = useRef(key)
  useEffect(() => {
    keyRef.current = key
  })

  useEffect(() => {
    if (!running) return
    const stop = new AbortController()
    const refresh = () => client.invalidateQueries({ queryKey: keyRef.current ?? ['job', jobId] }, { cancelRefetch: false })
    let timer: ReturnType<typeof setTimeout> | null = null
    let refreshing = false
    let dirty = false
    // Wait for a pending refresh, and refresh slow data less often: otherwise a large run would keep both sides busy
    // and no refresh would ever finish.
    let delay = MIN_REFRESH_MS
    const refreshNow = async () => {
      timer = null
      dirty = false
      refreshing = true
      const began = performance.now()
      await refresh()
      delay = Math.max(MIN_REFRESH_MS, 3 * (performance.now() - began))
      refreshing = false
      if (dirty && !stop.signal.aborted) changed()
    }
    const changed = () => {
      dirty = true
      if (!refreshing) timer ??= setTimeout(() => void refreshNow(), delay)
    }
    const follow = async () => {
      let after: number | string | null = null
      setConnection('connecting')
      while (!stop.signal.aborted) {
        try {
          await readStream(jobId, {
            signal: stop.signal,
            after,
            onOpen: () => setConnection('live'),
            onEvent: (event) => {
              if (event.id !== null) after = event.id
              if (event.name !== 'snapshot' && event.name !== 'delta') changed()
            },
          })
          break
        } catch (error) {
          if (stop.signal.aborted) return
          const disconnected = error instanceof StreamBroken || (error instanceof ApiError && error.status === 0)
          if (!disconnected && !(error instanceof ApiError && error.status >= 429)) break
          setConnection('broken')
          changed()
          await pause(RETRY_MS, stop.signal).catch(() => undefined)
        }
      }
      if (stop.signal.aborted) return
      setConnection('closed')
      await refresh()
      await client.invalidateQueries({ queryKey: ['jobs'] })
    }
    void follow()
    return () => {
      stop.abort()
      if (timer) clearTimeout(timer)
    }
  }, [client, jobId, running])

  return running ? connection : 'closed'
}
