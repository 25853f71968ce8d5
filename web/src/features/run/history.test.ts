// Goal: months appear in their cells, and no bin of the histogram mixes gains and losses.
import { expect, it } from 'vitest'
import { histogram } from '@/charts/histogram'
import { monthsBefore, presetAt, presetsOf } from '@/charts/ranges'
import { dailyReturns, type Month, yearsOf } from './history'

const month = (year: number, month: number, total_return: number, is_partial = false): Month => ({ year, month, total_return, days: is_partial ? 4 : 21, is_partial })

it('places months by year and chains them', () => {
  const years = yearsOf([month(2012, 12, 0.1, true), month(2013, 1, 0.1), month(2013, 2, -0.5)])
  expect(years.map(({ year, months }) => [year, months.findIndex((one) => one !== null)])).toEqual([[2012, 11], [2013, 0]])
  expect(years[1]?.total.total_return).toBeCloseTo(-0.45)
  expect(years[1]?.total).toMatchObject({ days: 42, is_partial: true })
})

it('computes daily returns from the start, and none after an insolvency', () => {
  const values = (...all: number[]) => ({ starting_portfolio_value: 100, daily_portfolio_values: all.map((portfolio_value) => ({ date: '', portfolio_value })) })
  expect(dailyReturns(values(110, 99)).map((value) => Number(value.toFixed(6)))).toEqual([0.1, -0.1])
  expect(dailyReturns(values(0, 0))).toEqual([-1])
})

it('counts every return once, with a bound at zero', () => {
  const returns = Array.from({ length: 250 }, (_, index) => Math.sin(index * 12.9898) * 0.03)
  const bins = histogram(returns)
  expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(250)
  expect(bins.some((bin) => bin.from < -1e-12 && bin.to > 1e-12)).toBe(false)
  expect(bins.filter((bin) => bin.from >= 0).reduce((sum, bin) => sum + bin.count, 0)).toBe(returns.filter((value) => value >= 0).length)
  expect(histogram([0.01, 0.01])).toHaveLength(1)
  expect(histogram([0, 0, 0.01]).map((bin) => bin.zeros)).toContain(2)
  expect(histogram([])).toEqual([])
})

it('offers the range presets that are shorter than the run, up to the newest day', () => {
  expect(monthsBefore('2012-03-31', 1)).toBe('2012-02-29')
  const presets = presetsOf('2012-01-02', '2012-05-10', '2012-12-31')
  expect(presets).toEqual([
    { name: '1m', from: '2012-04-10', to: '2012-05-10' },
    { name: '3m', from: '2012-02-10', to: '2012-05-10' },
    { name: 'all', from: '2012-01-02', to: '2012-12-31' },
  ])
  expect(presetAt(presets, '2012-04-11', '2012-05-10')).toBe('1m')
  expect(presetAt(presets, '2012-04-25', '2012-05-10')).toBeNull()
})
