// Follows a job's log: a snapshot with its cursor, then the stream. If the stream breaks, it polls from the cursor and
// tries the stream again. Independent of React and of the clock: waiting is injected.
import type { ActionSummary, JobLogResponse, LogEntry, LogJob } from './actions'
import { ApiError } from './client'
import type { StreamOptions } from './stream'
import { hasStopped } from './types'

export const POLL_EVERY_MS = 5000
export const MAX_FAILURES = 5
/** Rows per page. */
export const FIRST_PAGE = 200

/**
 * - `loading`: no response yet
 * - `live`: the stream is open
 * - `polling`: the stream broke; the log is requested every five seconds
 * - `lost`: five requests in a row failed; polling has stopped until the server is back
 * - `ended`: the job has ended; the log is read-only
 * - `missing`: the job does not exist
 */
export type Phase = 'loading' | 'live' | 'polling' | 'lost' | 'ended' | 'missing'

export interface JobLog {
  phase: Phase
  job: LogJob | null
  /** Whether a page has been loaded. */
  loaded: boolean
  /** Ordered by sequence. */
  logs: LogEntry[]
  actionsSummary: ActionSummary[] | null
  /** Whether there are older rows to load. */
  hasOlder: boolean
  loadingOlder: boolean
  /** Failures in a row. */
  failures: number
  /** The last error. */
  error: string | null
}

export interface Sources {
  /** A page of the log: newer than `cursor`, older than `before`, or the newest. */
  page: (query: PageQuery, signal: AbortSignal) => Promise<JobLogResponse>
  stream: (options: StreamOptions) => Promise<void>
  wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface PageQuery {
  cursor?: string | null
  before?: string | null
  limit: number
  /** The number of polls so far, which the server counts. */
  retries?: number
}

export const EMPTY_LOG: JobLog = {
  phase: 'loading',
  job: null,
  loaded: false,
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
  private lastEventId: number | string | null = null
  private retries = 0
  private wake = new AbortController()

  constructor(sources: Sources, changed: (state: JobLog) => void, initialJob?: LogJob | null) {
    this.sources = sources
    this.changed = changed
    this.state = { ...EMPTY_LOG, job: initialJob ?? null }
  }

  current(): JobLog {
    return this.state
  }

  /** Runs until the job has ended, is missing or is lost, or `close` is called. */
  async run(): Promise<void> {
    this.stop = new AbortController()
    const signal = this.stop.signal
    try {
      if (await this.snapshot(signal)) await this.followToEnd(signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  private async followToEnd(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.follow(signal)) return
      if (!(await this.poll(signal))) return
    }
  }

  close(): void {
    this.stop.abort()
  }

  /** The server responds again: polls without waiting for the rest of the interval, also after `lost`. */
  async serverIsBack(): Promise<void> {
    if (this.state.phase === 'lost') return this.retry()
    // Failures from before do not count.
    if (this.state.failures > 0) this.set({ failures: 0 })
    this.wake.abort()
  }

  /** Tries again after `lost`. */
  async retry(): Promise<void> {
    if (this.state.loaded) return this.continueFromCursor()
    this.close()
    this.set({ phase: 'loading', failures: 0, error: null })
    await this.run()
  }

  /** Continues when an ended job runs again. */
  async resume(): Promise<void> {
    if (this.state.phase === 'ended') await this.continueFromCursor()
  }

  /** Loads what is newer than the loaded rows, which stay, and follows the job. */
  private async continueFromCursor(): Promise<void> {
    this.close()
    this.stop = new AbortController()
    const signal = this.stop.signal
    this.set({ phase: 'loading', failures: 0, error: null })
    try {
      if (await this.poll(signal, false)) await this.followToEnd(signal)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** Every row of the log. Loads missing older rows. */
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

  /** Loads the page before the oldest row. */
  async loadOlder(): Promise<void> {
    if (this.older === null || this.state.loadingOlder) return
    this.set({ loadingOlder: true })
    try {
      const page = await this.sources.page({ before: this.older, limit: FIRST_PAGE }, this.stop.signal)
      this.older = page.before ?? null
      this.add(page.logs ?? [])
      this.set({ loadingOlder: false, hasOlder: this.older !== null, error: null })
    } catch (error) {
      this.set({ loadingOlder: false, error: errorMessage(error) })
    }
  }

  /** Loads the first page, with the same retries as polling. */
  private async snapshot(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      try {
        const page = await this.sources.page({ limit: FIRST_PAGE }, signal)
        this.older = page.before ?? null
        this.applyPage(page)
        this.set({ hasOlder: this.older !== null, failures: 0, error: null })
        return !this.endIfStopped()
      } catch (error) {
        if (!(await this.recordFailure(error, signal))) return false
      }
    }
  }

  /** Reads the stream. Returns whether it reached its end. */
  private async follow(signal: AbortSignal): Promise<boolean> {
    try {
      await this.sources.stream({
        signal,
        after: this.lastEventId,
        onOpen: () => this.set({ phase: 'live', error: null }),
        onEvent: (event) => {
          if (event.id !== null) this.lastEventId = event.id
          if (event.logEntry) this.add([event.logEntry])
          if (event.job) this.set({ job: { ...this.state.job, ...event.job } })
          // Rows written between the first page and the start of the stream.
          if (event.name === 'snapshot') void this.catchUp(signal)
        },
      })
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof ApiError && error.status === 404) return this.missing()
      this.set({ phase: 'polling', error: errorMessage(error) })
      return false
    }
    // The job has ended: load its times and its summary.
    await this.catchUp(signal)
    this.set({ phase: 'ended' })
    return true
  }

  private async catchUp(signal: AbortSignal): Promise<void> {
    try {
      await this.fetchNewer(signal)
    } catch {
      // The stream continues, or its break triggers a new request.
    }
  }

  /** Polls until a request succeeds. Returns whether there is a stream to follow. */
  private async poll(signal: AbortSignal, waits = true): Promise<boolean> {
    for (let first = !waits; ; first = false) {
      if (!first) {
        await this.waitForPoll(signal)
        this.retries += 1
      }
      try {
        await this.fetchNewer(signal)
        this.set({ failures: 0, error: null })
        return !this.endIfStopped()
      } catch (error) {
        if (!(await this.recordFailure(error, signal, false))) return false
      }
    }
  }

  /** Loads all rows newer than those loaded. */
  private async fetchNewer(signal: AbortSignal): Promise<void> {
    for (;;) {
      const cursor = this.newer
      const query: PageQuery = { cursor, limit: FIRST_PAGE }
      if (this.retries > 0) query.retries = this.retries
      const page = await this.sources.page(query, signal)
      this.applyPage(page)
      if ((page.logs ?? []).length < FIRST_PAGE || this.newer === cursor) return
    }
  }

  /** Records a failure. Returns whether to retry; waits first, unless the caller does. */
  private async recordFailure(error: unknown, signal: AbortSignal, waits = true): Promise<boolean> {
    if (signal.aborted) throw error
    if (error instanceof ApiError && error.status === 404) return !this.missing()
    const failures = this.state.failures + 1
    if (failures >= MAX_FAILURES) {
      this.set({ phase: 'lost', failures, error: errorMessage(error) })
      return false
    }
    this.set({ phase: 'polling', failures, error: errorMessage(error) })
    if (waits) await this.waitForPoll(signal)
    return true
  }

  /** Waits for the next poll, or until the server is back. */
  private async waitForPoll(signal: AbortSignal): Promise<void> {
    this.wake = new AbortController()
    try {
      await this.sources.wait(POLL_EVERY_MS, AbortSignal.any([signal, this.wake.signal]))
    } catch (error) {
      if (signal.aborted) throw error
    }
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

  private applyPage(page: JobLogResponse): void {
    this.newer = page.next_cursor ?? this.newer
    this.add(page.logs ?? [])
    this.set({
      loaded: true,
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

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
