// Checks the server and distinguishes a slow one from one that is away. Independent of React; clock and network are injected.
//
// Checks overlap: one that takes long does not delay the next. So a slow server is heard from as often as a fast one,
// only later, and silence means that it is away.
import { onContact } from './contact'
import type { Health } from './types'

/** A check starts this long after the previous one. */
export const CHECK_MS = 1000
/** A response that takes this long is slow. */
export const SLOW_MS = 1200
/** Silence for this long, while a check is pending: the server is away. */
export const AWAY_MS = 2800
/** A check without a response for this long has failed. */
export const TIMEOUT_MS = 5000
/** Checks at a time. A browser has six connections per server, and the page needs the others. */
export const MAX_PENDING = 2

/**
 * - `unknown`: not heard from yet
 * - `ok`, `failing`: what the server says of itself
 * - `slow`: it responds, but late
 * - `away`: it cannot be reached, or is silent
 */
export type ServerState = 'unknown' | 'ok' | 'failing' | 'slow' | 'away'

export interface HealthSources {
  /** Requests the health; rejects if there is no response. */
  check: (signal: AbortSignal) => Promise<Health>
  /** Milliseconds of a clock that never goes back. */
  now: () => number
  /** Calls a function later. Returns a function that cancels it. */
  after: (ms: number, run: () => void) => () => void
  isHidden: () => boolean
}

export class HealthMonitor {
  private readonly sources: HealthSources
  private readonly onHealth: (health: Health) => void
  private readonly listeners = new Set<() => void>()
  private readonly pending = new Map<AbortController, number>()
  private current: ServerState = 'unknown'
  private status: string | null = null
  private startedAt = -Infinity
  private heardAt = -Infinity
  private failedAt = -Infinity
  private latency = 0
  private cancelTimer: () => void = () => undefined
  private stopListening: () => void = () => undefined

  constructor(sources: HealthSources, onHealth: (health: Health) => void) {
    this.sources = sources
    this.onHealth = onHealth
  }

  readonly state = (): ServerState => this.current

  /** Checks while anything listens. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    if (this.listeners.size === 1) this.start()
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.stop()
    }
  }

  private start(): void {
    const forget = onContact(() => this.recordContact())
    const onVisible = () => this.tick()
    document.addEventListener('visibilitychange', onVisible)
    this.stopListening = () => {
      forget()
      document.removeEventListener('visibilitychange', onVisible)
    }
    this.tick()
  }

  private stop(): void {
    this.cancelTimer()
    this.stopListening()
    for (const check of this.pending.keys()) check.abort()
    this.pending.clear()
  }

  /** Starts a check if one is due, updates the state, and waits until either may change. */
  private tick(): void {
    this.cancelTimer()
    const now = this.sources.now()
    for (const [check, since] of this.pending) {
      if (now - since < TIMEOUT_MS) continue
      this.pending.delete(check)
      check.abort()
      if (this.heardAt < since) this.failedAt = now
    }
    if (!this.sources.isHidden() && this.pending.size < MAX_PENDING && now - this.startedAt >= this.interval()) void this.check(now)
    const since = this.oldest()
    const next = stateAt(now, { status: this.status, heardAt: this.heardAt, failedAt: this.failedAt, latency: this.latency, pendingSince: since })
    if (next !== this.current) {
      this.current = next
      for (const listener of this.listeners) listener()
    }
    if (this.sources.isHidden() && since === null) return
    const changes = [this.pending.size < MAX_PENDING ? this.startedAt + this.interval() : Infinity]
    if (since !== null) changes.push(since + SLOW_MS, silentSince(this.heardAt, since) + AWAY_MS, since + TIMEOUT_MS)
    const at = Math.min(...changes.filter((change) => change > now))
    if (Number.isFinite(at)) this.cancelTimer = this.sources.after(at - now, () => this.tick())
  }

  private async check(now: number): Promise<void> {
    const check = new AbortController()
    this.pending.set(check, now)
    this.startedAt = now
    try {
      const health = await this.sources.check(check.signal)
      if (!this.pending.delete(check)) return
      this.latency = this.sources.now() - now
      this.status = health.status
      this.onHealth(health)
      this.recordContact()
    } catch {
      if (!this.pending.delete(check)) return
      this.failedAt = this.sources.now()
      this.tick()
    }
  }

  private recordContact(): void {
    this.heardAt = this.sources.now()
    this.tick()
  }

  /** Checks of a slow server are spread over its response time. */
  private interval(): number {
    return Math.max(CHECK_MS, this.latency / MAX_PENDING)
  }

  private oldest(): number | null {
    return this.pending.size === 0 ? null : Math.min(...this.pending.values())
  }
}

interface Contact {
  status: string | null
  /** When the server last responded to anything, and when a check last failed. */
  heardAt: number
  failedAt: number
  /** The response time of the last check. */
  latency: number
  /** The start of the oldest pending check. */
  pendingSince: number | null
}

function stateAt(now: number, { status, heardAt, failedAt, latency, pendingSince }: Contact): ServerState {
  if (failedAt > heardAt) return 'away'
  if (pendingSince !== null && now - silentSince(heardAt, pendingSince) >= AWAY_MS) return 'away'
  if (status === null) return 'unknown'
  if (status !== 'ok') return 'failing'
  const isLate = pendingSince !== null && now - pendingSince >= SLOW_MS
  return isLate || latency >= SLOW_MS ? 'slow' : 'ok'
}

/** The start of the silence: the last contact. If checks paused after it, as in a hidden page, nothing could be heard. */
function silentSince(heardAt: number, pendingSince: number): number {
  return pendingSince - heardAt <= 1.5 * CHECK_MS ? heardAt : pendingSince
}
