// Goal: each note appears once, in the reader's language.
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
const notes = (language: 'en' | 'zh', ...benchmarks: Benchmark[]) =>
  benchmarkNotes(
    benchmarks.map((benchmark) => ({ model: 'a', benchmark }) as RangeResult),
    (key: TextKey, values?: Values) => translate(language, key, values),
    { day: (date) => date ?? '' },
  )

it('describes an index, its start and its missing days', () => {
  expect(notes('en', spx, spx)).toEqual([
    'Benchmark SPX (S&P 500): index levels as imported. Starts at the close on 2012-09-28.',
    'Benchmark SPX: no bar on 2 of 21 days. The previous value is used on 2012-10-03, 2012-10-17.',
  ])
  expect(notes('zh', spx)).toEqual(['基准 SPX (S&P 500)：指数点位，以导入数据为准。 自 2012-09-28 收盘起算。', '基准 SPX：21 个交易日中 2 个无行情，沿用前值：2012-10-03, 2012-10-17。'])
})

it('describes a symbol, and why a benchmark is not available', () => {
  const aapl = { ...spx, symbol: 'AAPL', name: 'AAPL', basis: 'total_return', missing_days: [], start: { date: '2012-10-01', price: 1, at: 'first_open' } } as Benchmark
  expect(notes('en', aapl)).toEqual(['Benchmark AAPL: total return with dividends reinvested, without costs. Starts at the open on 2012-10-01.'])
  expect(notes('en', { ...spx, unavailable: 'us does not have it' })).toEqual(['Benchmark SPX is not available for a: us does not have it.'])
  expect(notes('en')).toEqual([])
})
