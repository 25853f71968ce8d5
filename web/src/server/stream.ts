// A job's server-sent events, read by `fetch`: unlike `EventSource`, it tells a 404 from a broken line.
import { createParser } from 'eventsource-parser'
import { ask } from './client'
import type { LogEntry } from './actions'
import type { StreamedJob } from './types'

/** One event of a job's stream. */
export interface JobEvent {
  name: string
  /** Its number in the job; `null`: it is one that may be lost (`delta`). */
  id: number | null
  job: StreamedJob | null
  logEntry: LogEntry | null
  event: unknown
}

/** The server says at least every 15 s that it is there: a line that is silent for so long is dead. */
const SILENCE_MS = 40_000
/** A page that nobody sees gives its line back: a browser has six to a server, over all its tabs. */
const UNSEEN_MS = 10_000

/** The line broke before the end was told. */
export class StreamBroken extends Error {
  constructor() {
    super('the stream broke off')
    this.name = 'StreamBroken'
  }
}

export interface StreamOptions {
  signal: AbortSignal
  /** Go on behind this event. */
  after?: number | null
  onOpen?: () => void
  onEvent: (event: JobEvent) => void
}

/**
 * Reads a job's stream to its end, and returns when the job has ended. While the page is hidden it waits.
 *
 * Throws `StreamBroken` where it breaks off, falls silent or is given back, `ApiError` where the server refuses.
 */
export async function readStream(jobId: string, options: StreamOptions): Promise<void> {
  await untilSeen(options.signal)
  const headers: Record<string, string> = { Accept: 'text/event-stream' }
  if (options.after != null) headers['Last-Event-ID'] = String(options.after)
  const url = `/jobs/${encodeURIComponent(jobId)}/stream`
  const response = await ask(url, { headers, signal: options.signal, cache: 'no-store' })
  if (response.status === 204) return
  if (!response.body) throw new StreamBroken()
  options.onOpen?.()

  let ended = false
  const parser = createParser({
    onEvent: (event) => {
      const told = parse(event.data)
      if (!told) return
      const id = event.id === undefined || event.id === '' ? null : Number(event.id)
      options.onEvent({ name: event.event ?? 'message', id: Number.isFinite(id) ? id : null, ...told })
      if (event.event === 'end') ended = true
    },
  })
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  // A reader that is cancelled reads the end.
  const leave = () => void reader.cancel().catch(() => undefined)
  let silence = setTimeout(leave, SILENCE_MS)
  let unseen: ReturnType<typeof setTimeout> | undefined
  const seen = () => {
    clearTimeout(unseen)
    if (document.hidden) unseen = setTimeout(leave, UNSEEN_MS)
  }
  document.addEventListener('visibilitychange', seen)
  try {
    for (;;) {
      const { done, value } = await reader.read()
      clearTimeout(silence)
      if (done) break
      silence = setTimeout(leave, SILENCE_MS)
      parser.feed(decoder.decode(value, { stream: true }))
      if (ended) return
    }
  } catch (error) {
    if (options.signal.aborted) throw error
    throw new StreamBroken()
  } finally {
    clearTimeout(silence)
    clearTimeout(unseen)
    document.removeEventListener('visibilitychange', seen)
    await reader.cancel().catch(() => undefined)
  }
  if (!ended) throw new StreamBroken()
}

/** Resolves when the page is seen; throws where it is told to stop before. */
function untilSeen(signal: AbortSignal): Promise<void> {
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
    const told = JSON.parse(data) as { job?: StreamedJob; log_entry?: LogEntry | null; event?: unknown }
    return { job: told.job ?? null, logEntry: told.log_entry ?? null, event: told.event ?? told }
  } catch {
    return null
  }
}
