import { expect, it } from 'vitest'
import { drawdown } from '@/charts/drawdown'
import { marks } from '@/charts/marks'
import type { RangeResult, Status } from '@/server/types'
import { curvesOf, daysOf, scaleOf } from './curves'
import { booked } from './booked'

const result = {
  model: 'a',
  starting_portfolio_value: 100,
  daily_portfolio_values: [
    { date: '2012-10-01', portfolio_value: 110, full_research: true },
    { date: '2012-10-02', portfolio_value: 99, full_research: false },
  ],
  baselines: {
    buy_and_hold: { daily_portfolio_values: [{ date: '2012-10-01', portfolio_value: 101 }] },
    equal_weight: { daily_portfolio_values: [{ date: '2012-10-01', portfolio_value: 102 }] },
  },
} as RangeResult

it('makes returns of values, and adds the baselines once', () => {
  const curves = curvesOf([result, { ...result, model: 'b' }], { hold: 'hold', equal: 'equal' })
  expect(curves.map((curve) => [curve.id, curve.dashed ?? false])).toEqual([['a', false], ['b', false], ['baseline:hold', true], ['baseline:equal', true]])
  expect(curves[0]?.points.map((point) => Number(point.value.toFixed(4)))).toEqual([0.1, -0.01])
  expect(curves[2]?.points[0]?.value).toBeCloseTo(0.01)
})

it('measures drawdown from the highest value, the start among them', () => {
  expect(drawdown([{ date: 'a', value: -0.1 }, { date: 'b', value: 0.25 }, { date: 'c', value: 0 }]).map((point) => Number(point.value.toFixed(3)))).toEqual([-0.1, 0, -0.2])
})

it('gives each day its result, and days that are not done none', () => {
  const detail = (date: string, status: string) => ({ date, status, model: 'a' })
  const status = { details: [detail('2012-10-02', 'completed'), detail('2012-10-01', 'completed'), detail('2012-10-03', 'queued'), { ...detail('2012-10-01', 'failed'), model: 'b' }] } as Status
  const days = daysOf('a', status, result)
  expect(days.map((day) => [day.date, day.status, day.result === null ? null : Number(day.result.toFixed(3)), day.full])).toEqual([
    ['2012-10-01', 'completed', 0.1, true],
    ['2012-10-02', 'completed', -0.1, false],
    ['2012-10-03', 'queued', null, null],
  ])
  expect(scaleOf(days)).toBeCloseTo(0.1)
  expect(scaleOf([])).toBe(0.005)
})

it('puts the fills of a day and side into one mark', () => {
  const fill = (date: string, kind: string, quantity: number) => ({ date, kind, quantity, price: 1 })
  expect(marks([fill('2012-10-02', 'sell', 1), fill('2012-10-01', 'buy', 2), fill('2012-10-01', 'cover', 3), fill('2012-10-01', 'stop', 4)])).toEqual([
    { date: '2012-10-01', buys: true, quantity: 5, kinds: ['buy', 'cover'] },
    { date: '2012-10-01', buys: false, quantity: 4, kinds: ['stop'] },
    { date: '2012-10-02', buys: false, quantity: 1, kinds: ['sell'] },
  ])
})

it('lists what was booked in order, and leaves out days without a trade', () => {
  const position = (action_id: number, action_type: string) => ({ action_id, action_type })
  const rows = booked([
    { date: '2012-10-02', session_id: 2, positions: [position(1, 'no_trade')] },
    { date: '2012-10-03', session_id: 3, positions: [position(2, 'sell'), position(1, 'buy')] },
    { date: '2012-10-01', session_id: 1, positions: [position(1, 'buy')] },
  ] as never)
  expect(rows.map((row) => [row.session.date, row.position.action_id])).toEqual([['2012-10-01', 1], ['2012-10-03', 1], ['2012-10-03', 2]])
})
