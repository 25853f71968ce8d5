// A job's server-sent events, read with `fetch`: unlike `EventSource`, it distinguishes a 404 from a broken connection.
import { createParser } from 'eventsource-parser'
import { request } from './client'
import { noteContact } from './contact'
import type { LogEntry } from './actions'
import type { StreamedJob } from './types'

/** One event of a job's stream. */
export interface JobEvent {
  name: string
  /** Its number in the job, or an opaque text if the job is split into parts; `null` for an event that may be lost (`delta`). */
  id: number | string | null
  job: StreamedJob | null
  logEntry: LogEntry | null
  event: unknown
}

/** The server sends a keep-alive at least every 15 s. A connection that is silent for this long is dead. */
const IDLE_TIMEOUT_MS = 40_000
/** A hidden page closes its connection: a browser allows six per server, across all tabs. */
const HIDDEN_TIMEOUT_MS = 10_000

/** The connection broke before the `end` event. */
export class StreamBroken extends Error {
  constructor() {
    super('the stream was interrupted')
    this.name = 'StreamBroken'
  }
}

export interface StreamOptions {
  signal: AbortSignal
  /** Continue after this event. */
  after?: number | string | null
  onOpen?: () => void
  onEvent: (event: JobEvent) => void
}

/** A number, or an opaque text if the job is split into parts. */
function eventId(id: string | undefined): number | string | null {
  if (id === undefined || id === '') return null
  return /^\d+$/.test(id) ? Number(id) : id
}

/**
 * Reads a job's stream and returns when the job has ended. Waits while the page is hidden.
 *
 * Throws `StreamBroken` if the stream is interrupted, silent or closed because the page is hidden; `ApiError` if the
 * server rejects the request.
 */
export async function readStream(jobId: string, options: StreamOptions): Promise<void> {
  await untilVisible(options.signal)
  const headers: Record<string, string> = { Accept: 'text/event-stream' }
  if (options.after != null) headers['Last-Event-ID'] = String(options.after)
  const url = `/jobs/${encodeURIComponent(jobId)}/stream`
  const response = await request(url, { headers, signal: options.signal, cache: 'no-store' })
  if (response.status === 204) return
  if (!response.body) throw new StreamBroken()
  options.onOpen?.()

  let ended = false
  const parser = createParser({
    onEvent: (event) => {
      const payload = parse(event.data)
      if (!payload) return
      options.onEvent({ name: event.event ?? 'message', id: eventId(event.id), ...payload })
      if (event.event === 'end') ended = true
    },
  })
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  // A cancelled reader reports that it is done.
  const cancel = () => void reader.cancel().catch(() => undefined)
  let idleTimer = setTimeout(cancel, IDLE_TIMEOUT_MS)
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined
  const onVisibility = () => {
    clearTimeout(hiddenTimer)
    if (document.hidden) hiddenTimer = setTimeout(cancel, HIDDEN_TIMEOUT_MS)
  }
  document.addEventListener('visibilitychange', onVisibility)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      clearTimeout(idleTimer)
      if (done) break
      noteContact()
      idleTimer = setTimeout(cancel, IDLE_TIMEOUT_MS)
      parser.feed(decoder.decode(value, { stream: true }))
      if (ended) return
    }
  } catch (error) {
    if (options.signal.aborted) throw error
    throw new StreamBroken()
  } finally {
    clearTimeout(idleTimer)
    clearTimeout(hiddenTimer)
    document.removeEventListener('visibilitychange', onVisibility)
    await reader.cancel().catch(() => undefined)
  }
  if (!ended) throw new StreamBroken()
}

/** Resolves when the page is visible; rejects if aborted before. */
function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!document.hidden) {
      resolve()
      return
    }
    const done = () => {
      if (document.hidden && !signal.aborted) return
      document.removeEventListener('visibilitychange', done)
      signal.removeEventListener('abort', done)
      if (signal.aborted) reject(signal.reason as Error)
      else resolve()
    }
    document.addEventListener('visibilitychange', done)
    signal.addEventListener('abort', done)
  })
}

function parse(data: string): Omit<JobEvent, 'name' | 'id'> | null {
  try {
    const body = JSON.parse(data) as { job?: StreamedJob; log_entry?: LogEntry | null; event?: unknown }
    return { job: body.job ?? null, logEntry: body.log_entry ?? null, event: body.event ?? body }
  } catch {
    return null
  }
}
