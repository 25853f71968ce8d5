// The months of a run as a grid, and its daily returns.
import type { components } from '@/server/schema'

export type Month = components['schemas']['MonthResponse']

export interface Year {
  year: number
  /** January first; `null` outside the run. */
  months: (Month | null)[]
  /** The chained return of its months, and its days. */
  total: { total_return: number; days: number; is_partial: boolean }
}

export function yearsOf(months: Month[]): Year[] {
  const years = new Map<number, Year>()
  for (const month of months) {
    let year = years.get(month.year)
    if (!year) years.set(month.year, (year = { year: month.year, months: Array<Month | null>(12).fill(null), total: { total_return: 0, days: 0, is_partial: false } }))
    year.months[month.month - 1] = month
    year.total.total_return = (1 + year.total.total_return) * (1 + month.total_return) - 1
    year.total.days += month.days
  }
  for (const year of years.values()) year.total.is_partial = year.months.some((month) => month === null || month.is_partial === true)
  return [...years.values()].sort((a, b) => a.year - b.year)
}

/** The return of each closed day as a fraction of the previous close. */
export function dailyReturns(result: { starting_portfolio_value: number; daily_portfolio_values: { portfolio_value: number }[] }): number[] {
  let before = result.starting_portfolio_value
  const found: number[] = []
  for (const { portfolio_value: value } of result.daily_portfolio_values) {
    // The returns of an insolvent account end.
    if (before <= 0) break
    found.push(value / before - 1)
    before = value
  }
  return found
}

/** The color strength of a month, 0 to 1: full from the 90th percentile on, at least 5%. */
export function strengthOf(months: Month[]): (value: number) => number {
  const sizes = months.map((month) => Math.abs(month.total_return)).sort((a, b) => a - b)
  const full = Math.max(0.05, sizes[Math.floor(sizes.length * 0.9)] ?? 0)
  return (value) => Math.min(1, Math.abs(value) / full)
}
