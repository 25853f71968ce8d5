// Keeps a running job's data fresh: its stream reports a change, and the cached queries are fetched again.
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from './client'
import { useServerState } from './health'
import { readStream, StreamBroken, type StreamOptions } from './stream'
import { pause } from './wait'

/**
 * - `closed`: nothing to follow
 * - `connecting`: no stream yet
 * - `updating`: the stream is open, but the data may be older than its newest event
 * - `live`: the data are as new as the stream
 * - `broken`: disconnected; the stream is retried
 */
export type Connection = 'closed' | 'connecting' | 'updating' | 'live' | 'broken'

/** The minimum time between two refreshes. */
const MIN_REFRESH_MS = 700
/** The maximum time between two refreshes, however slow they are. */
const MAX_REFRESH_MS = 10_000
/** Data that is refreshed less often than this is not called live. */
const MAX_LAG_MS = 2000
/** How long to wait before reconnecting a broken stream, and one that the server rejects for now. */
const RETRY_MS = 1000
const RETRY_REJECTED_MS = 3000

export interface FollowOptions {
  client: QueryClient
  /** The key of the queries to refresh. */
  key: () => readonly unknown[]
  signal: AbortSignal
  /** The signal of the next connection. Aborted to reconnect. */
  reconnect: () => AbortSignal
  onState: (connection: Connection) => void
  stream: (options: StreamOptions) => Promise<void>
  wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Follows a job's stream up to its end and keeps the queries under `key` fresh. */
export async function followJob({ client, key, signal, reconnect, onState, stream, wait }: FollowOptions): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let lagTimer: ReturnType<typeof setTimeout> | undefined
  let refreshing = false
  let dirty = false
  let isOpen = false
  // Refresh slow data less often: otherwise a large run would keep both sides busy.
  let delay = MIN_REFRESH_MS
  /** Counts connections, so that a refresh of an earlier one cannot report the state of this one. */
  let connections = 0

  const schedule = () => {
    if (!refreshing && !signal.aborted) timer ??= setTimeout(() => void refresh(false), delay)
  }
  const watchLag = () => {
    lagTimer ??= setTimeout(() => isOpen && onState('updating'), MAX_LAG_MS)
  }
  const stopWatching = () => {
    clearTimeout(lagTimer)
    lagTimer = undefined
  }
  /** Fetches everything again. `replace` also discards requests that were sent before. */
  const refresh = async (replace: boolean) => {
    const connection = connections
    clearTimeout(timer)
    timer = undefined
    dirty = false
    refreshing = true
    const began = performance.now()
    await client.invalidateQueries({ queryKey: key() }, { cancelRefetch: replace })
    if (signal.aborted || connection !== connections) return
    refreshing = false
    const elapsed = performance.now() - began
    if (hasUnansweredQuery(client, key())) {
      if (isOpen) onState('updating')
      schedule()
      return
    }
    delay = Math.min(MAX_REFRESH_MS, Math.max(MIN_REFRESH_MS, 3 * elapsed))
    stopWatching()
    if (isOpen && !(dirty && elapsed > MAX_LAG_MS)) onState('live')
    if (dirty) {
      watchLag()
      schedule()
    }
  }
  const disconnected = () => {
    isOpen = false
    refreshing = false
    connections += 1
    stopWatching()
  }

  let after: number | string | null = null
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    stopWatching()
  })
  onState('connecting')
  while (!signal.aborted) {
    const attempt = AbortSignal.any([signal, reconnect()])
    try {
      await stream({
        signal: attempt,
        after,
        onOpen: () => {
          isOpen = true
          connections += 1
          onState('updating')
          // A request that was sent before the stream opened may lack events from before it opened.
          void refresh(true)
        },
        onEvent: (event) => {
          if (event.id !== null) after = event.id
          if (event.name === 'snapshot' || event.name === 'delta') return
          dirty = true
          watchLag()
          schedule()
        },
      })
      break
    } catch (error) {
      if (signal.aborted) return
      disconnected()
      onState('broken')
      if (attempt.aborted) continue
      const isOffline = error instanceof StreamBroken || (error instanceof ApiError && error.status === 0)
      const isRejected = error instanceof ApiError && error.status >= 429
      if (!isOffline && !isRejected) break
      // Without a stream, a server that responds is polled.
      if (isRejected) schedule()
      await wait(isOffline ? RETRY_MS : RETRY_REJECTED_MS, signal).catch(() => undefined)
    }
  }
  if (signal.aborted) return
  disconnected()
  onState('closed')
  // Replaces a request that was sent before the end: its response may say that the job runs.
  await client.invalidateQueries({ queryKey: key() })
  await client.invalidateQueries({ queryKey: ['jobs'] })
}

/** Whether a query on the page failed because the server did not respond. A rejected request is an answer. */
function hasUnansweredQuery(client: QueryClient, key: readonly unknown[]): boolean {
  return client
    .getQueryCache()
    .findAll({ queryKey: key, type: 'active' })
    .some(({ state: { status, error } }) => status === 'error' && !(error instanceof ApiError && error.status >= 400 && error.status < 500))
}

/**
 * Follows a running job. When it changes, invalidates the cached queries under `key`, by default all queries of the job.
 * Returns the state of the connection.
 */
export function useLiveJob(jobId: string, running: boolean, key?: readonly unknown[]): Connection {
  const client = useQueryClient()
  const [connection, setConnection] = useState<Connection>('closed')
  const isAway = useServerState() === 'away'
  const keyRef = useRef(key)
  const isAwayRef = useRef(false)
  const attempt = useRef(new AbortController())
  /** Whether the stream was open when the server stopped responding. It may never report its end. */
  const survives = useRef(false)
  useEffect(() => {
    keyRef.current = key
  })

  useEffect(() => {
    if (!running) return
    const stop = new AbortController()
    void followJob({
      client,
      key: () => keyRef.current ?? ['job', jobId],
      signal: stop.signal,
      reconnect: () => {
        attempt.current = new AbortController()
        return attempt.current.signal
      },
      onState: (state) => {
        if (stop.signal.aborted) return
        if (state === 'broken') survives.current = false
        setConnection(state)
      },
      stream: (options) => readStream(jobId, options),
      wait: pause,
    })
    return () => stop.abort()
  }, [client, jobId, running])

  useEffect(() => {
    if (isAway && !isAwayRef.current) survives.current = connection === 'live' || connection === 'updating'
    if (!isAway && isAwayRef.current && survives.current) attempt.current.abort()
    isAwayRef.current = isAway
  }, [isAway, connection])

  if (!running) return 'closed'
  return isAway && connection !== 'closed' ? 'broken' : connection
}
