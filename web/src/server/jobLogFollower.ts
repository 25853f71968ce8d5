// Follows a job's log: a snapshot with its cursor, then the stream; on a break it polls from the cursor and
// tries the stream again. Pure of React, and of the clock: it is given how to wait.
import type { ActionSummary, JobLogAnswer, LogEntry, LogJob } from './actions'
import { ApiError } from './client'
import type { StreamOptions } from './stream'
import { hasStopped } from './types'

export const POLL_EVERY_MS = 5000
export const MOST_FAILURES = 5
/** The newest rows that the first page asks for. */
export const FIRST_PAGE = 200

/**
 * - `loading`: nothing is known yet
 * - `live`: the stream is open
 * - `polling`: the stream broke; it is asked every five seconds
 * - `lost`: five askings in a row failed; it has stopped trying
 * - `ended`: the job has ended; the log is read-only
 * - `missing`: there is no such job
 */
export type Phase = 'loading' | 'live' | 'polling' | 'lost' | 'ended' | 'missing'

export interface JobLog {
  phase: Phase
  job: LogJob | null
  /** Has a page of it come? */
  answered: boolean
  /** In the order of their sequence. */
  logs: LogEntry[]
  actionsSummary: ActionSummary[] | null
  /** Are there older rows to load? */
  hasOlder: boolean
  loadingOlder: boolean
  /** Failures in a row. */
  failures: number
  /** What went wrong last. */
  error: string | null
}

export interface Sources {
  /** A page of the log: newer than `cursor`, older than `before`, or the newest. */
  page: (query: PageQuery, signal: AbortSignal) => Promise<JobLogAnswer>
  stream: (options: StreamOptions) => Promise<void>
  wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface PageQuery {
  cursor?: string | null
  before?: string | null
  limit: number
  /** How often it had to poll so far: the server counts them. */
  retries?: number
}

export const NOTHING: JobLog = {
  phase: 'loading',
  job: null,
  answered: false,
  logs: [],
  actionsSummary: null,
  hasOlder: false,
  loadingOlder: false,
  failures: 0,
  error: null,
}

export class JobLogFollower {
  private state: JobLog
  private readonly sources: Sources
  private readonly changed: (state: JobLog) => void
  private stop = new AbortController()
  private readonly bySequence = new Map<number, LogEntry>()
  private newer: string | null = null
  private older: string | null = null
  private seen: number | null = null
  private retries = 0

  constructor(sources: Sources, changed: (state: JobLog) => void, initialJob?: LogJob | null) {
    this.sources = sources
    this.changed = changed
    this.state = { ...NOTHING, job: initialJob ?? null }
  }

  current(): JobLog {
    return this.state
  }

  /** Runs until the job has ended, is missing or is lost, or `close` is called. */
  async run(): Promise<void> {
    this.stop = new AbortController()
    const signal = this.stop.signal
    try {
      if (await this.snapshot(signal)) await this.onwards(signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  private async onwards(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.follow(signal)) return
      if (!(await this.poll(signal))) return
    }
  }

  close(): void {
    this.stop.abort()
  }

  /** Tries again after it was lost. */
  async retry(): Promise<void> {
    this.close()
    this.set({ phase: 'loading', failures: 0, error: null })
    await this.run()
  }

  /** Goes on with a job that had ended and runs again: what is there stays. */
  async resume(): Promise<void> {
    if (this.state.phase !== 'ended') return
    this.close()
    this.stop = new AbortController()
    const signal = this.stop.signal
    this.set({ phase: 'loading', failures: 0, error: null })
    try {
      if (await this.poll(signal, false)) await this.onwards(signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** Every row of the log: older ones are loaded where they are not there yet. */
  async all(): Promise<LogEntry[]> {
    while (this.older !== null) {
      const before: string = this.older
      const page = await this.sources.page({ before, limit: FIRST_PAGE }, this.stop.signal)
      if (this.older !== before) continue
      this.older = page.before ?? null
      this.add(page.logs ?? [])
      this.set({ hasOlder: this.older !== null })
    }
    return this.state.logs
  }

  /** Loads the page before the oldest row that is there. */
  async loadOlder(): Promise<void> {
    if (this.older === null || this.state.loadingOlder) return
    this.set({ loadingOlder: true })
    try {
      const page = await this.sources.page({ before: this.older, limit: FIRST_PAGE }, this.stop.signal)
      this.older = page.before ?? null
      this.add(page.logs ?? [])
      this.set({ loadingOlder: false, hasOlder: this.older !== null, error: null })
    } catch (error) {
      this.set({ loadingOlder: false, error: said(error) })
    }
  }

  /** The first page. Fails as a poll does, and is tried as often. */
  private async snapshot(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      try {
        const page = await this.sources.page({ limit: FIRST_PAGE }, signal)
        this.older = page.before ?? null
        this.take(page)
        this.set({ hasOlder: this.older !== null, failures: 0, error: null })
        return !this.endIfStopped()
      } catch (error) {
        if (!(await this.failed(error, signal))) return false
      }
    }
  }

  /** The stream; is it all told? */
  private async follow(signal: AbortSignal): Promise<boolean> {
    try {
      await this.sources.stream({
        signal,
        after: this.seen,
        onOpen: () => this.set({ phase: 'live', error: null }),
        onEvent: (event) => {
          if (event.id !== null) this.seen = event.id
          if (event.logEntry) this.add([event.logEntry])
          if (event.job) this.set({ job: { ...this.state.job, ...event.job } })
          // What was written between the first page and the stream's beginning.
          if (event.name === 'snapshot') void this.catchUp(signal)
        },
      })
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof ApiError && error.status === 404) return this.missing()
      this.set({ phase: 'polling', error: said(error) })
      return false
    }
    // The end is told; times and the summary stand in the record.
    await this.catchUp(signal)
    this.set({ phase: 'ended' })
    return true
  }

  private async catchUp(signal: AbortSignal): Promise<void> {
    try {
      await this.newest(signal)
    } catch {
      // The stream goes on, or its break is told; the rows are asked for again then.
    }
  }

  /** Polls until it answers; is there something to follow? */
  private async poll(signal: AbortSignal, waits = true): Promise<boolean> {
    for (let first = !waits; ; first = false) {
      if (!first) {
        await this.sources.wait(POLL_EVERY_MS, signal)
        this.retries += 1
      }
      try {
        await this.newest(signal)
        this.set({ failures: 0, error: null })
        return !this.endIfStopped()
      } catch (error) {
        if (!(await this.failed(error, signal, false))) return false
      }
    }
  }

  /** All pages of rows newer than those that are there. */
  private async newest(signal: AbortSignal): Promise<void> {
    for (;;) {
      const cursor = this.newer
      const query: PageQuery = { cursor, limit: FIRST_PAGE }
      if (this.retries > 0) query.retries = this.retries
      const page = await this.sources.page(query, signal)
      this.take(page)
      if ((page.logs ?? []).length < FIRST_PAGE || this.newer === cursor) return
    }
  }

  /** Notes a failure; is it to be tried again? Waits where the caller does not. */
  private async failed(error: unknown, signal: AbortSignal, waits = true): Promise<boolean> {
    if (signal.aborted) throw error
    if (error instanceof ApiError && error.status === 404) return !this.missing()
    const failures = this.state.failures + 1
    if (failures >= MOST_FAILURES) {
      this.set({ phase: 'lost', failures, error: said(error) })
      return false
    }
    this.set({ phase: 'polling', failures, error: said(error) })
    if (waits) await this.sources.wait(POLL_EVERY_MS, signal)
    return true
  }

  private missing(): true {
    this.set({ phase: 'missing', error: null })
    return true
  }

  private endIfStopped(): boolean {
    const stopped = this.state.job !== null && hasStopped(this.state.job.status)
    if (stopped) this.set({ phase: 'ended' })
    return stopped
  }

  private take(page: JobLogAnswer): void {
    this.newer = page.next_cursor ?? this.newer
    this.add(page.logs ?? [])
    this.set({
      answered: true,
      job: { ...this.state.job, ...page.job },
      actionsSummary: page.actions_summary ?? this.state.actionsSummary,
    })
  }

  private add(entries: LogEntry[]): void {
    if (entries.length === 0) return
    for (const entry of entries) this.bySequence.set(entry.sequence, entry)
    this.set({ logs: [...this.bySequence.values()].sort((a, b) => a.sequence - b.sequence) })
  }

  private set(part: Partial<JobLog>): void {
    this.state = { ...this.state, ...part }
    this.changed(this.state)
  }
}

function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
