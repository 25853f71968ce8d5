// Goal: the file has a row for each agent of a run, with its metrics where they were read.
import { expect, it } from 'vitest'
import type { Job, RangeResult } from '@/server/types'
import { rowsOf } from './exportRuns'

const job = {
  job_id: 'job-1',
  status: 'completed',
  created_at: '2026-11-22T05:00:00Z',
  labels: { name: 'Autumn', tags: ['a', 'b'], note: 'two\nlines' },
  simulation: { dataset: { name: 'us', hash: '00ff' }, start_date: '2012-10-01', end_date: '2012-10-05', agents: [{ name: 'x', model: 'm::x' }, { name: 'y', model: 'm::y' }] },
  progress: { total_model_days: 10, completed: 9 },
  quality: { degraded_days: 1, failed_days: 1 },
  usage: { cost_usd: null, input_tokens: 5, output_tokens: 6 },
} as unknown as Job

const result = {
  model: 'y',
  period_metrics: { total_return: 0.1, max_drawdown: -0.2, sharpe: 1.5 },
  baselines: { buy_and_hold: { period_metrics: { total_return: 0.04 } } },
  full_research: { days: 4, total_days: 5 },
} as unknown as RangeResult

it('has a row for each agent', () => {
  const { columns, rows } = rowsOf([job], new Map([['job-1', [result]]]))
  const cells = rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])))
  expect(rows.every((row) => row.length === columns.length)).toBe(true)
  expect(cells[1]).toMatchObject({ job_id: 'job-1', tags: 'a b', agent: 'y', model: 'm::y', total_return: 0.1, max_drawdown: -0.2, full_research_days: 4, degraded_days: 1, cost_usd: null })
  expect(cells[1]?.excess_over_buy_and_hold).toBeCloseTo(0.06)
  expect(cells[0]).toMatchObject({ agent: 'x', total_return: undefined })
})

it('has no empty columns for metrics that were not read', () => {
  const { columns, rows } = rowsOf([job], null)
  expect(columns).not.toContain('sharpe')
  expect(rows.every((row) => row.length === columns.length)).toBe(true)
})
