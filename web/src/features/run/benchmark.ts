// Notes on a run's benchmark.
import type { Benchmark, RangeResult } from '@/server/types'
import type { Format } from '@/shared/format'
import type { Translate } from '@/shared/i18n'

/** At most this many missing days are listed. */
const MAX_LISTED_DAYS = 5

/** Basis and start, missing days, and why it is not available; without duplicates. */
export function benchmarkNotes(results: RangeResult[], t: Translate, format: Pick<Format, 'day'>): string[] {
  return [...new Set(results.flatMap((result) => (result.benchmark ? notes(result.model, result.benchmark, t, format) : [])))]
}

function notes(model: string, benchmark: Benchmark, t: Translate, format: Pick<Format, 'day'>): string[] {
  const { symbol, start, missing_days: missing } = benchmark
  if (benchmark.unavailable != null) return [t('benchmark.unavailable', { symbol, model, why: benchmark.unavailable })]
  const name = benchmark.name == null || benchmark.name === symbol ? symbol : `${symbol} (${benchmark.name})`
  const basis = t(benchmark.basis === 'level' ? 'benchmark.level' : 'benchmark.total', { name })
  const from = start ? t(start.at === 'first_open' ? 'benchmark.from.open' : 'benchmark.from.close', { date: format.day(start.date) }) : ''
  const lines = [`${basis} ${from}`.trim()]
  if (missing.length > 0) {
    const listed = missing.slice(0, MAX_LISTED_DAYS).map((date) => format.day(date))
    const dates = missing.length > listed.length ? `${listed.join(', ')}, …` : listed.join(', ')
    lines.push(t('benchmark.missing', { symbol, count: missing.length, days: benchmark.daily_portfolio_values.length, dates }))
  }
  return lines
}
