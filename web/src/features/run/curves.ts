// Converts a run's values to curves and strips.
import type { Cell } from '@/charts/DayStrip'
import type { Point } from '@/charts/drawdown'
import type { Curve } from '@/charts/EquityChart'
import { seriesStyle } from '@/charts/tokens'
import type { AgentCurve, Benchmark, Curves, RangeResult } from '@/server/types'

/** With more days than this, a strip shows months, or the days of a selected year. */
export const MAX_DAYS = 400

/** An agent's result for a day or a month. */
export interface Day {
  /** `2012-10-01`, or `2012-10` for a month. */
  date: string
  status: string
  /** The return as a fraction; `null` if unknown. */
  result: number | null
  full: boolean | null
  /** The earlier run that completed it, or all days of the month; absent for the run's own days. */
  doneIn?: string
  /** How many days of a month earlier runs completed. */
  doneBefore?: number
}

const pointsCache = new WeakMap<AgentCurve, Point[]>()

/**
 * Returns of an agent since its start, from 0 before its first day. The same array as long as the agent has not changed.
 * Empty if its initial value is unknown.
 */
function points(agent: AgentCurve, dates: string[]): Point[] {
  const cached = pointsCache.get(agent)
  if (cached) return cached
  const start = agent.starting_portfolio_value ?? 0
  const found: Point[] = []
  if (start > 0) {
    const first = agent.statuses.findIndex((status) => status != null)
    found.push({ date: dates[first - 1] ?? dayBefore(dates), value: 0 })
    agent.portfolio_values.forEach((value, index) => {
      if (value !== null) found.push({ date: dates[index] ?? '', value: value / start - 1 })
    })
  }
  pointsCache.set(agent, found)
  return found
}

const degradedCache = new WeakMap<AgentCurve, string[]>()

/** The closed days of an agent without full research. The same array as long as the agent has not changed. */
export function degradedDays(agent: AgentCurve, dates: string[]): string[] {
  let found = degradedCache.get(agent)
  if (!found) degradedCache.set(agent, (found = dates.filter((_, index) => agent.full_research[index] === false)))
  return found
}

/** The place of the start on the time axis: the last weekday before the first day. */
export function dayBefore(dates: string[]): string {
  const first = dates[0]
  if (first === undefined) return ''
  const at = new Date(`${first}T00:00:00Z`)
  do at.setUTCDate(at.getUTCDate() - 1)
  while (at.getUTCDay() % 6 === 0)
  return at.toISOString().slice(0, 10)
}

/** Returns since the start, from 0 before the first day. */
function fromStart(values: { date: string; portfolio_value: number }[], start: number, dates: string[]): Point[] {
  const first = values[0]
  if (!first) return []
  const before = dates[dates.indexOf(first.date) - 1] ?? dayBefore(dates)
  return [{ date: before, value: 0 }, ...values.map((day) => ({ date: day.date, value: day.portfolio_value / start - 1 }))]
}

/** The ID of the benchmark's line. */
export const BENCHMARK = 'baseline:benchmark'

interface StartedBenchmark {
  benchmark: Benchmark
  /** The portfolio value that it starts with. */
  start: number
}

/** The longest available benchmark of the agents. */
export function longestBenchmark(results: RangeResult[]): StartedBenchmark | undefined {
  const available = results.flatMap((result) => (result.benchmark && result.benchmark.unavailable == null ? [{ benchmark: result.benchmark, start: result.starting_portfolio_value }] : []))
  const days = (one: StartedBenchmark) => one.benchmark.daily_portfolio_values.length
  return available.reduce<StartedBenchmark | undefined>((best, one) => (best && days(best) >= days(one) ? best : one), undefined)
}

/** The agents' lines, then those of the baselines and the benchmark, if known. */
export function curvesOf(curves: Curves, results: RangeResult[], names: { hold: string; equal: string }): Curve[] {
  const drawn: Curve[] = curves.agents.map((agent, index) => ({
    id: agent.model,
    label: agent.model,
    ...seriesStyle(index),
    points: points(agent, curves.dates),
    degraded: degradedDays(agent, curves.dates),
  }))
  // A baseline starts with the agent's cash and ends with the agent. It is the same for all agents, so use the longest.
  const first = furthest(results)
  if (first?.baselines) {
    const start = first.starting_portfolio_value
    const line = (id: string, label: string, token: string, values: { date: string; portfolio_value: number }[]): Curve => ({
      id,
      label,
      token,
      dash: 'dashed',
      isReference: true,
      points: fromStart(values, start, curves.dates),
    })
    drawn.push(line('baseline:hold', names.hold, '--baseline-1', first.baselines.buy_and_hold.daily_portfolio_values))
    drawn.push(line('baseline:equal', names.equal, '--baseline-2', first.baselines.equal_weight.daily_portfolio_values))
  }
  const longest = longestBenchmark(results)
  if (longest) {
    const { benchmark, start } = longest
    drawn.push({ id: BENCHMARK, label: benchmark.symbol, token: '--benchmark', dash: 'dashed', isReference: true, points: fromStart(benchmark.daily_portfolio_values, start, curves.dates) })
  }
  return drawn
}

/** The result with the longest baselines. */
export function furthest(results: RangeResult[]): RangeResult | undefined {
  const days = (result: RangeResult) => result.baselines?.buy_and_hold.daily_portfolio_values.length ?? 0
  return results.filter((result) => result.baselines).reduce<RangeResult | undefined>((best, one) => (best && days(best) >= days(one) ? best : one), undefined)
}

/** The days of an agent with their results. */
export function daysOf(agent: AgentCurve, dates: string[]): Day[] {
  let before = agent.starting_portfolio_value ?? 0
  const days: Day[] = []
  dates.forEach((date, index) => {
    const status = agent.statuses[index]
    if (status == null) return
    const value = agent.portfolio_values[index] ?? null
    const result = value === null ? null : before > 0 ? value / before - 1 : 0
    const span = agent.done_before.find((days) => days.start_date <= date && date <= days.end_date)
    days.push({ date, status, result, full: agent.full_research[index] ?? null, ...(status === 'skipped' && span && { doneIn: span.job_id }) })
    if (value !== null) before = value
  })
  return days
}

/** A month has the status of its worst day. */
const WORST = ['failed', 'running', 'queued', 'skipped', 'completed']

/** Groups days by month and chains their returns. A month of several runs names none of them. */
export function monthsOf(days: Day[]): Day[] {
  const months = new Map<string, Day>()
  for (const day of days) {
    const key = day.date.slice(0, 7)
    const month = months.get(key)
    if (!month) {
      months.set(key, { ...day, date: key, ...(day.status === 'skipped' && { doneBefore: 1 }) })
      continue
    }
    if (month.doneIn !== day.doneIn) delete month.doneIn
    if (day.status === 'skipped') month.doneBefore = (month.doneBefore ?? 0) + 1
    if (day.result !== null) month.result = (1 + (month.result ?? 0)) * (1 + day.result) - 1
    if (day.full !== null) month.full = (month.full ?? true) && day.full
    if (WORST.indexOf(day.status) < WORST.indexOf(month.status)) month.status = day.status
  }
  return [...months.values()]
}

/** The result with the full color: the 95th percentile, at least half a percent. */
export function scaleOf(days: Day[]): number {
  const sizes = days.flatMap((day) => (day.result === null ? [] : [Math.abs(day.result)])).sort((a, b) => a - b)
  return Math.max(0.005, sizes[Math.floor(sizes.length * 0.95)] ?? 0)
}

/** Whether an earlier run completed the day, or a day of the month. */
export function isSkipped(day: Day): boolean {
  return day.status === 'skipped' || (day.doneBefore ?? 0) > 0
}

/** The cell of a day. A day that failed or is still open shows no result. */
export function cellOf(day: Day, scale: number): Omit<Cell, 'label' | 'href'> {
  const closed = day.result !== null && (day.status === 'completed' || day.status === 'skipped' || day.date.length === 7)
  const share = closed ? Math.min(1, Math.abs(day.result ?? 0) / scale) : 0
  const tone = day.status === 'failed' || !closed ? day.status : share === 0 ? 'even' : (day.result ?? 0) > 0 ? 'gain' : 'loss'
  return { key: day.date, tone, share, degraded: day.full === false, skipped: isSkipped(day) }
}
