// Goal: what a benchmark is, where it begins and which days it lacks is told once, in the reader's language.
import { expect, it } from 'vitest'
import type { Benchmark, RangeResult } from '@/server/types'
import { translate, type TextKey, type Values } from '@/shared/i18n'
import { benchmarkNotes } from './benchmark'

const spx = {
  symbol: 'SPX',
  name: 'S&P 500',
  basis: 'level',
  start: { date: '2012-09-28', price: 1440, at: 'previous_close' },
  daily_portfolio_values: Array(21).fill({ date: '', portfolio_value: 1 }),
  missing_days: ['2012-10-03', '2012-10-17'],
  unavailable: null,
} as unknown as Benchmark
const told = (language: 'en' | 'zh', ...benchmarks: Benchmark[]) =>
  benchmarkNotes(
    benchmarks.map((benchmark) => ({ model: 'a', benchmark }) as RangeResult),
    (key: TextKey, values?: Values) => translate(language, key, values),
    { day: (date) => date ?? '' },
  )

it('says what an index is measured by, and on which days it stands still', () => {
  expect(told('en', spx, spx)).toEqual([
    'Benchmark SPX (S&P 500): an index, from level to level as imported. It begins at the close on 2012-09-28.',
    'Benchmark SPX has no bar on 2 of 21 days, and keeps its last value there: 2012-10-03, 2012-10-17.',
  ])
  expect(told('zh', spx)).toEqual(['对比基准 SPX (S&P 500)：指数，按导入的点位计算。 自 2012-09-28 收盘起算。', '对比基准 SPX 在 21 天中有 2 天没有行情，沿用前值：2012-10-03, 2012-10-17。'])
})

it('says that dividends of a symbol are reinvested, and why there is none', () => {
  const aapl = { ...spx, symbol: 'AAPL', name: 'AAPL', basis: 'total_return', missing_days: [], start: { date: '2012-10-01', price: 1, at: 'first_open' } } as Benchmark
  expect(told('en', aapl)).toEqual(['Benchmark AAPL: total return with dividends reinvested, without costs. It begins at the open on 2012-10-01: there is no close before.'])
  expect(told('en', { ...spx, unavailable: 'us does not have it' })).toEqual(['Benchmark SPX is not available for a: us does not have it.'])
  expect(told('en')).toEqual([])
})
