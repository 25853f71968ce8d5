import { fireEvent, screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { Job, Metrics, RangeResult, RelativeMetrics } from '@/server/types'
import { respondWith } from '@/test/network'
import { show } from '@/test/render'
import { BenchmarkPick } from './BenchmarkPick'
import { curvesOf } from './curves'
import { MetricsTable } from './MetricsTable'

const metrics = (total_return: number): Metrics =>
  ({ days: 2, trading_days_per_year: 252, total_return, annualized_return: null, volatility: null, sharpe: null, sortino: null, max_drawdown: null, calmar: null, win_rate: null, turnover: null, exposure: null, insolvent_on: null, costs: 0 }) as Metrics
const relative: RelativeMetrics = { benchmark_return: 0.02, excess_return: 0.03, alpha: 0.125, beta: 0.5, correlation: null, tracking_error: 0.0815, information_ratio: 1.25, up_capture: 0.6, down_capture: -0.2 }
const values = [{ date: '2012-10-01', portfolio_value: 102 }]
const result = {
  model: 'a',
  starting_portfolio_value: 100,
  ending_portfolio_value: 105,
  period_metrics: metrics(0.05),
  full_research: { days: 1, total_days: 2, period_metrics: metrics(0.01) },
  training_cutoffs: [],
  provenance: { reasons: [] },
  baselines: { buy_and_hold: { daily_portfolio_values: values, period_metrics: metrics(0.01) }, equal_weight: { daily_portfolio_values: values, period_metrics: metrics(0.01) } },
  benchmark: { symbol: 'SPX', unavailable: null, daily_portfolio_values: values, period_metrics: metrics(0.02), relative_metrics: relative },
} as unknown as RangeResult

const table = (results: RangeResult[], fullOnly = false, isCostUnknown = false) => {
  const curves = curvesOf({ dates: [], agents: [{ model: 'a', portfolio_values: [] }] } as never, results, { hold: 'hold', equal: 'equal' })
  return <MetricsTable results={results} curves={curves} hidden={new Set()} onToggle={() => undefined} fullOnly={fullOnly} market={null} isCostUnknown={isCostUnknown} />
}
const cells = (row: HTMLElement) => within(row).getAllByRole('cell').map((cell) => cell.textContent)
const rowOf = (name: string) => screen.getByLabelText(`Show ${name}`).closest('tr') as HTMLElement

it('keeps the quality visible, shows relative metrics as the last numbers, and the benchmark as a row', async () => {
  await show(table([result]))
  const heads = screen.getAllByRole('columnheader').map((head) => head.textContent)
  expect(heads.at(-1)).toBe('Research')
  expect(screen.getByRole('columnheader', { name: 'Research' }).className).toBe('stays-end')
  expect(heads.slice(14, 22)).toEqual(['Excess return', 'Alpha', 'Beta', 'Correlation', 'Tracking error', 'Information ratio', 'Up capture', 'Down capture'])
  expect(cells(rowOf('a')).slice(14, 22)).toEqual(['+3.00%', '12.50%', '0.50', '–', '8.15%', '1.25', '60%', expect.stringMatching(/20%$/)])
  expect(cells(rowOf('SPX'))[3]).toBe('+2.00%')
})

it('marks an agent whose results are insolvent, unverified, short or of unknown cost, next to its quality', async () => {
  const marked = {
    ...result,
    insolvent: { since: '2012-10-02' },
    provenance: { point_in_time: 'unverified', point_in_time_reason: { kind: 'import', job: 'j', date: '2012-10-01' }, reasons: [] },
    period_metrics: { ...metrics(0.05), annualized_unavailable: 'too_few_days' },
  } as unknown as RangeResult
  const { unmount } = await show(table([marked], false, true))
  const quality = within(within(rowOf('a')).getAllByRole('cell').at(-1) as HTMLElement)
  for (const mark of ['1 of 2 days full', 'Insolvent since Oct 2, 2012', 'n < 60', 'Cost unknown']) expect(quality.getByText(mark)).toBeTruthy()
  expect(quality.getByText('Point-in-time unverified').title).not.toBe('')
  expect(within(rowOf('hold')).queryByText('Cost unknown')).toBeNull()
  unmount()
  // Rules cost nothing.
  await show(table([{ ...marked, is_llm: false }], false, true))
  expect(screen.queryByText('Cost unknown')).toBeNull()
})

it('sorts by any column, with rows without a value last', async () => {
  await show(table([result]))
  const names = () => screen.getAllByRole('row').slice(1).map((row) => cells(row)[0])
  expect(names()).toEqual(['a', 'hold', 'equal', 'SPX'])
  fireEvent.click(screen.getByRole('button', { name: /^Excess return/ }))
  expect(names()[0]).toBe('a')
  fireEvent.click(screen.getByRole('button', { name: /^Return/ }))
  expect(names()).toEqual(['a', 'SPX', 'hold', 'equal'])
  expect(screen.getByRole('columnheader', { name: /^Return/ }).getAttribute('aria-sort')).toBe('descending')
  fireEvent.click(screen.getByRole('button', { name: /^Return/ }))
  expect(names()).toEqual(['hold', 'equal', 'SPX', 'a'])
})

it('hides relative metrics without a benchmark, and leaves them empty for full research only', async () => {
  const { unmount } = await show(table([{ ...result, benchmark: null }]))
  expect(screen.queryByText('Alpha')).toBeNull()
  unmount()
  await show(table([result], true))
  expect(cells(rowOf('a')).slice(14, 22)).toEqual(Array(8).fill(''))
})

it('lists the indexes of the run’s dataset, then its symbols', async () => {
  respondWith('/datasets/abc', { indexes: ['SPX'], symbols: ['AAPL', 'IBM'] })
  const selected: string[] = []
  const job = { simulation: { dataset: { hash: 'abc' }, benchmark: 'IBM' } } as unknown as Job
  await show(<BenchmarkPick job={job} value="" onChange={(symbol) => selected.push(symbol)} />)
  const pick = await screen.findByLabelText('Benchmark')
  expect(within(pick).getAllByRole('option').map((option) => option.textContent)).toEqual(['IBM', 'SPX', 'AAPL'])
  fireEvent.change(pick, { target: { value: 'SPX' } })
  expect(selected).toEqual(['SPX'])
})
