// From results to what is drawn.
import type { Curve } from '@/charts/EquityChart'
import type { Day } from '@/charts/DayStrip'
import { seriesToken } from '@/charts/tokens'
import type { RangeResult, Status } from '@/server/types'

/** Returns since the start, by agent, then those of the baselines. */
export function curvesOf(results: RangeResult[], names: { hold: string; equal: string }): Curve[] {
  const curves: Curve[] = results.map((result, index) => ({
    id: result.model,
    label: result.model,
    token: seriesToken(index),
    points: result.daily_portfolio_values.map((day) => ({
      date: day.date,
      value: day.portfolio_value / result.starting_portfolio_value - 1,
    })),
  }))
  // The baselines begin with the model's money; of agents that began alike they are alike.
  const first = results.find((result) => result.baselines)
  if (first?.baselines) {
    const { buy_and_hold: hold, equal_weight: equal } = first.baselines
    const start = first.starting_portfolio_value
    const line = (id: string, label: string, token: string, values: typeof hold.daily_portfolio_values): Curve => ({
      id,
      label,
      token,
      dashed: true,
      points: values.map((day) => ({ date: day.date, value: day.portfolio_value / start - 1 })),
    })
    curves.push(line('baseline:hold', names.hold, '--baseline-1', hold.daily_portfolio_values))
    curves.push(line('baseline:equal', names.equal, '--baseline-2', equal.daily_portfolio_values))
  }
  return curves
}

/** The days of an agent, with their results, in order. */
export function daysOf(model: string, status: Status, result: RangeResult | undefined): Day[] {
  const values = new Map<string, { change: number; full: boolean }>()
  let before = result?.starting_portfolio_value ?? 0
  for (const day of result?.daily_portfolio_values ?? []) {
    values.set(day.date, { change: before > 0 ? day.portfolio_value / before - 1 : 0, full: day.full_research })
    before = day.portfolio_value
  }
  return status.details
    .filter((detail) => detail.model === model)
    .sort((a, b) => a.date.localeCompare(b.date))
    .map((detail) => {
      const value = values.get(detail.date)
      return { date: detail.date, status: detail.status, result: value?.change ?? null, full: value?.full ?? null }
    })
}

/** At which result the strip's colour is full: the 95th percentile of all days, at least half a percent. */
export function scaleOf(days: Day[]): number {
  const sizes = days.flatMap((day) => (day.result === null ? [] : [Math.abs(day.result)])).sort((a, b) => a - b)
  return Math.max(0.005, sizes[Math.floor(sizes.length * 0.95)] ?? 0)
}
