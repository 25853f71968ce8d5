// What has to be known of a run's benchmark, in words.
import type { Benchmark, RangeResult } from '@/server/types'
import type { Format } from '@/shared/format'
import type { Translate } from '@/shared/i18n'

/** So many days are named. */
const MOST_DAYS = 5

/** What the benchmark is, which days it has no bar on, and why it is missing; each once. */
export function benchmarkNotes(results: RangeResult[], t: Translate, format: Pick<Format, 'day'>): string[] {
  return [...new Set(results.flatMap((result) => (result.benchmark ? notes(result.model, result.benchmark, t, format) : [])))]
}

function notes(model: string, benchmark: Benchmark, t: Translate, format: Pick<Format, 'day'>): string[] {
  const { symbol, start, missing_days: missing } = benchmark
  if (benchmark.unavailable != null) return [t('benchmark.unavailable', { symbol, model, why: benchmark.unavailable })]
  const name = benchmark.name == null || benchmark.name === symbol ? symbol : `${symbol} (${benchmark.name})`
  const what = t(benchmark.basis === 'level' ? 'benchmark.level' : 'benchmark.total', { name })
  const from = start ? t(start.at === 'first_open' ? 'benchmark.from.open' : 'benchmark.from.close', { date: format.day(start.date) }) : ''
  const found = [`${what} ${from}`.trim()]
  if (missing.length > 0) {
    const named = missing.slice(0, MOST_DAYS).map((date) => format.day(date))
    const dates = missing.length > named.length ? `${named.join(', ')}, …` : named.join(', ')
    found.push(t('benchmark.missing', { symbol, count: missing.length, days: benchmark.daily_portfolio_values.length, dates }))
  }
  return found
}
