import { expect, it } from 'vitest'
import { drawdown } from '@/charts/drawdown'
import { marks } from '@/charts/marks'
import type { AgentCurve, Benchmark, Curves, RangeResult } from '@/server/types'
import { cellOf, curvesOf, dayBefore, daysOf, monthsOf, scaleOf } from './curves'
import { valueAt } from './Legend'
import { ledgerRows } from './ledgerRows'

const agent = (model: string, part: Partial<AgentCurve> = {}): AgentCurve => ({
  model,
  is_llm: false,
  starting_portfolio_value: 100,
  done_before: [],
  portfolio_values: [110, 99, null],
  statuses: ['completed', 'completed', 'queued'],
  full_research: [true, false, null],
  ...part,
})
const curves = (...agents: AgentCurve[]) => ({ dates: ['2012-10-01', '2012-10-02', '2012-10-03'], agents }) as Curves
const result = {
  model: 'a',
  starting_portfolio_value: 100,
  baselines: {
    buy_and_hold: { daily_portfolio_values: [{ date: '2012-10-01', portfolio_value: 101 }] },
    equal_weight: { daily_portfolio_values: [{ date: '2012-10-01', portfolio_value: 102 }] },
  },
} as RangeResult

it('converts values to returns and adds the baselines once', () => {
  const both = curves(agent('a'), agent('b'))
  const drawn = curvesOf(both, [result, { ...result, model: 'b' }], { hold: 'hold', equal: 'equal' })
  expect(drawn.map((curve) => [curve.id, curve.isReference ?? false])).toEqual([['a', false], ['b', false], ['baseline:hold', true], ['baseline:equal', true]])
  expect(drawn[0]?.points.map((point) => Number(point.value.toFixed(4)))).toEqual([0, 0.1, -0.01])
  expect(drawn[2]?.points.map((point) => [point.date, Number(point.value.toFixed(4))])).toEqual([['2012-09-28', 0], ['2012-10-01', 0.01]])
  // Unchanged curves keep their identity.
  expect(curvesOf(both, [], { hold: 'hold', equal: 'equal' })[0]?.points).toBe(drawn[0]?.points)
})

it('draws the longest benchmark after the baselines', () => {
  const benchmark = (days: number, unavailable: string | null = null) =>
    ({ symbol: 'SPX', unavailable, daily_portfolio_values: [102, 99].slice(0, days).map((portfolio_value, index) => ({ date: `2012-10-0${index + 1}`, portfolio_value })) }) as Benchmark
  const both = [{ ...result, benchmark: benchmark(1) }, { ...result, model: 'b', benchmark: benchmark(2) }]
  const drawn = curvesOf(curves(agent('a'), agent('b')), both, { hold: 'hold', equal: 'equal' })
  expect(drawn.map((curve) => curve.label)).toEqual(['a', 'b', 'hold', 'equal', 'SPX'])
  expect(drawn[4]?.points.map((point) => [point.date, Number(point.value.toFixed(4))])).toEqual([['2012-09-28', 0], ['2012-10-01', 0.02], ['2012-10-02', -0.01]])
  expect(drawn[4]?.isReference).toBe(true)
  const unavailable = [{ ...result, benchmark: benchmark(0, 'the dataset is gone') }]
  expect(curvesOf(curves(agent('a')), unavailable, { hold: 'hold', equal: 'equal' }).map((curve) => curve.label)).toEqual(['a', 'hold', 'equal'])
})

it('draws nothing for an agent without closed days', () => {
  const none = agent('a', { starting_portfolio_value: null, portfolio_values: [null, null, null] })
  expect(curvesOf(curves(none), [], { hold: '', equal: '' })[0]?.points).toEqual([])
})

it('starts each agent at 0 before its first day, on the weekday before the first day of all', () => {
  // 2012-10-01 is a Monday.
  expect(dayBefore(curves().dates)).toBe('2012-09-28')
  const early = agent('a')
  const late = agent('b', { statuses: [null, 'completed', 'queued'], portfolio_values: [null, 110, null] })
  expect(curvesOf(curves(early, late), [], { hold: '', equal: '' }).map((curve) => curve.points[0])).toEqual([
    { date: '2012-09-28', value: 0 },
    { date: '2012-10-01', value: 0 },
  ])
  const begun = agent('a', { portfolio_values: [null, null, null] })
  expect(curvesOf(curves(begun), [], { hold: '', equal: '' })[0]?.points).toEqual([{ date: '2012-09-28', value: 0 }])
})

it('shows no value after the end of a line', () => {
  const points = [{ date: '2012-09-28', value: 0 }, { date: '2012-10-02', value: 0.1 }]
  expect([null, '2012-10-01', '2012-10-02', '2012-10-03', '2012-09-27'].map((date) => valueAt(points, date))).toEqual([0.1, 0, 0.1, null, null])
})

it('measures drawdown from the peak, which includes the start', () => {
  expect(drawdown([{ date: 'a', value: -0.1 }, { date: 'b', value: 0.25 }, { date: 'c', value: 0 }]).map((point) => Number(point.value.toFixed(3)))).toEqual([-0.1, 0, -0.2])
})

it('computes the result of each day, and none for open days', () => {
  const days = daysOf(agent('a', { statuses: ['completed', null, 'queued'], portfolio_values: [110, null, null] }), curves().dates)
  expect(days).toEqual([
    { date: '2012-10-01', status: 'completed', result: expect.closeTo(0.1) as number, full: true },
    { date: '2012-10-03', status: 'queued', result: null, full: null },
  ])
  expect(scaleOf(days)).toBeCloseTo(0.1)
  expect(scaleOf([])).toBe(0.005)
})

it('groups days by month: chains returns and takes the worst status', () => {
  const day = (date: string, result: number | null, status = 'completed', full: boolean | null = true) => ({ date, result, status, full })
  const months = monthsOf([day('2012-10-01', 0.1), day('2012-10-02', 0.1, 'failed', false), day('2012-11-01', -0.5), day('2012-12-03', null, 'queued', null)])
  expect(months.map((month) => [month.date, month.status, month.result === null ? null : Number(month.result.toFixed(4)), month.full])).toEqual([
    ['2012-10', 'failed', 0.21, false],
    ['2012-11', 'completed', -0.5, true],
    ['2012-12', 'queued', null, null],
  ])
  expect(months.map((month) => cellOf(month, 0.5).tone)).toEqual(['failed', 'loss', 'queued'])
})

it('merges the fills of a day and side into one mark', () => {
  const fill = (date: string, buys: boolean, quantity: number) => ({ date, buys, quantity })
  expect(marks([fill('2012-10-02', false, 1), fill('2012-10-01', true, 2), fill('2012-10-01', true, 3), fill('2012-10-01', false, 4)])).toEqual([
    { date: '2012-10-01', buys: true, quantity: 5 },
    { date: '2012-10-01', buys: false, quantity: 4 },
    { date: '2012-10-02', buys: false, quantity: 1 },
  ])
})

it('treats the stop of a short position as a buy', () => {
  const position = (action_id: number, action_type: string, amount: number) => ({ action_id, action_type, symbol: 'IBM', amount })
  const rows = ledgerRows([
    { date: '2012-10-01', session_id: 1, model: 'a', positions: [position(1, 'short', 100)] },
    { date: '2012-10-02', session_id: 2, model: 'a', positions: [position(1, 'split', 200), position(2, 'stop', 200)] },
    { date: '2012-10-03', session_id: 3, model: 'a', positions: [position(1, 'buy', 10), position(2, 'liquidation', 10)] },
  ] as never)
  expect(rows.map((row) => row.buys)).toEqual([false, null, true, true, false])
})

it('lists ledger rows in order, without days that did not trade', () => {
  const position = (action_id: number, action_type: string) => ({ action_id, action_type })
  const rows = ledgerRows([
    { date: '2012-10-02', session_id: 2, positions: [position(1, 'no_trade')] },
    { date: '2012-10-03', session_id: 3, positions: [position(2, 'sell'), position(1, 'buy')] },
    { date: '2012-10-01', session_id: 1, positions: [position(1, 'buy')] },
  ] as never)
  expect(rows.map((row) => [row.session.date, row.position.action_id])).toEqual([['2012-10-01', 1], ['2012-10-03', 1], ['2012-10-03', 2]])
})

it('draws skipped days with their results and links to the run that completed them', () => {
  const one = agent('a', { statuses: ['skipped', 'skipped', 'completed'], portfolio_values: [110, 99, 108.9], done_before: [{ job_id: 'before', start_date: '2012-10-01', end_date: '2012-10-02' }] })
  const days = daysOf(one, curves().dates)
  expect(days.map((day) => day.doneIn)).toEqual(['before', 'before', undefined])
  expect(days.map((day) => cellOf(day, 0.1).tone)).toEqual(['gain', 'loss', 'gain'])
  expect(days.map((day) => cellOf(day, 0.1).skipped)).toEqual([true, true, false])
})

it('counts the skipped days of a month, and names their run if it completed all of them', () => {
  const day = (date: string, doneIn?: string) => ({ date, result: 0.01, status: doneIn ? 'skipped' : 'completed', full: true, ...(doneIn && { doneIn }) })
  const months = monthsOf([day('2012-10-01', 'x'), day('2012-10-02', 'x'), day('2012-11-01', 'x'), day('2012-11-02'), day('2012-12-03', 'x'), day('2012-12-04', 'y'), day('2013-01-02')])
  expect(months.map((month) => [month.doneIn, month.doneBefore, cellOf(month, 0.1).skipped])).toEqual([
    ['x', 2, true],
    [undefined, 1, true],
    [undefined, 2, true],
    [undefined, undefined, false],
  ])
})
