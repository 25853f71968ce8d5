// The mock server of the tests, and its responses.
import { http, HttpResponse, type JsonBodyType } from 'msw'
import { setupServer } from 'msw/node'
import type { LogEntry, LogJob } from '@/server/actions'

/** A healthy server without access control. */
export const network = setupServer(
  http.get('/health', () => HttpResponse.json({ status: 'ok', version: '0', problems: [], warnings: [] })),
  http.get('/access', () => HttpResponse.json({ error: 'not_found', message: '' }, { status: 404 })),
)

/** Responds to a route with JSON. */
export function respondWith(path: string, body: JsonBodyType, status = 200): void {
  network.use(http.get(path, () => HttpResponse.json(body, { status })))
}

/** An event in the format of a stream. */
export function sse(event: string, id: number | null, data: unknown): string {
  return `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
}

/** A stream of these chunks that then ends, or fails. */
export function streamOf(chunks: string[], fails = false): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk))
      if (fails) controller.error(new TypeError('the connection broke'))
      else controller.close()
    },
  })
  return new HttpResponse(body, { headers: { 'Content-Type': 'text/event-stream' } })
}

export function entry(sequence: number, part: Partial<LogEntry> = {}): LogEntry {
  return {
    id: sequence,
    redactions: 0,
    plan_id: null,
    job_id: 'job-1',
    session_id: null,
    user_message: null,
    action_kind: 'plan_operation',
    action_name: 'create_plan',
    status: 'completed',
    success: true,
    message: `row ${sequence}`,
    details: null,
    sequence,
    created_at: '2026-11-22T05:00:00Z',
    updated_at: '2026-11-22T05:00:00Z',
    ...part,
  }
}

export function logJob(status: LogJob['status'], part: Partial<LogJob> = {}): LogJob {
  return {
    job_id: 'job-1',
    kind: 'chat_action',
    status,
    error: null,
    created_at: '2026-11-22T05:00:00Z',
    started_at: '2026-11-22T05:00:01Z',
    completed_at: null,
    ...part,
  }
}

/** A clock that only moves when advanced. */
export class ManualClock {
  /** The requested duration of each wait. */
  readonly delays: number[] = []
  private waiting: (() => void)[] = []

  readonly wait = (ms: number, signal: AbortSignal): Promise<void> => {
    this.delays.push(ms)
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      this.waiting.push(resolve)
    })
  }

  get waits(): number {
    return this.waiting.length
  }

  /** Ends all waits. */
  advance(): void {
    const ended = this.waiting
    this.waiting = []
    for (const end of ended) end()
  }
}

/** A clock with timers that only moves when the test moves it. */
export class SteppedClock {
  private time = 0
  private timers: { at: number; run: () => void }[] = []

  readonly now = (): number => this.time

  readonly after = (ms: number, run: () => void): (() => void) => {
    const timer = { at: this.time + ms, run }
    this.timers.push(timer)
    return () => {
      this.timers = this.timers.filter((one) => one !== timer)
    }
  }

  /** Runs the timers up to this time, in their order. */
  to(time: number): void {
    for (;;) {
      const next = this.timers.reduce<{ at: number; run: () => void } | null>((first, one) => (one.at <= time && (!first || one.at < first.at) ? one : first), null)
      if (!next) break
      this.timers = this.timers.filter((one) => one !== next)
      this.time = Math.max(this.time, next.at)
      next.run()
    }
    this.time = time
  }
}

/** Requests to a route that wait until the test responds to them, oldest first. */
export function heldRoute(path: string): { waiting: number; respond: (body: JsonBodyType, status?: number) => void; fail: () => void } {
  const held: ((response: Response) => void)[] = []
  network.use(http.get(path, () => new Promise<Response>((resolve) => held.push(resolve)) as never))
  return {
    get waiting() {
      return held.length
    },
    respond: (body, status = 200) => held.shift()?.(HttpResponse.json(body, { status })),
    fail: () => held.shift()?.(HttpResponse.error()),
  }
}
