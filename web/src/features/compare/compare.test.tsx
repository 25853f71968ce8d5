import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it, vi } from 'vitest'
import type { ComparedItem, ComparedPair, Comparison, Job } from '@/server/types'
import { translate } from '@/shared/i18n'
import { runJob } from '@/test/job'
import { respondWith } from '@/test/network'
import { show } from '@/test/render'
import { bandAround, coneBand, linesOf } from './lines'
import { MetricsView } from './MetricsView'
import { PairDetail } from './PairDetail'
import { Picker } from './Picker'
import { agentItem, daysOf, listOf, parentOf, parseItem, toggled } from './select'
import { SetupView } from './SetupView'
import { Verdicts } from './Verdicts'
import { verdictText } from './words'

const item = (id: string, part: Partial<ComparedItem> = {}): ComparedItem => ({
  id,
  kind: 'agent',
  label: id,
  agent: id,
  is_llm: true,
  job_ids: ['job-1'],
  curve: [],
  days: 15,
  planned_days: 15,
  full_research_days: 15,
  fallback_days: 0,
  fallback_log_return: 0,
  trials: 1,
  windows: 1,
  training_cutoffs: [],
  ...part,
})
const pair = (part: Partial<ComparedPair> = {}): ComparedPair => ({
  a: 'x',
  b: 'y',
  verdict: 'too_few_days',
  words: 'too few days',
  reasons: ['15 shared days; a verdict needs 60'],
  mismatches: [],
  days: 15,
  different_days: 12,
  refilled: {},
  net_of_model_cost: {},
  cone: [],
  difference: { days: 15, mean_daily: 0.001, total: 0.015, interval: null, total_interval: null, annualized_unavailable: 'too_few_days' },
  ...part,
})
const comparison = (pairs: ComparedPair[]): Comparison => ({
  items: [item('x'), item('y')],
  pairs,
  family: { adjustment: 'holm', kind: 'all_pairs', level: 0.05, tests: pairs.length },
  method_version: 1,
  notes: [],
  random: [],
  target_points: 10,
  vary: [],
  deployment_mode: 'prod',
  is_dev_mode: false,
})
const english = (key: Parameters<typeof translate>[1], values?: Parameters<typeof translate>[2]) => translate('en', key, values)

it('parses the items of an address', () => {
  expect(listOf(' job:1/a, latest,latest,')).toEqual(['job:1/a', 'latest'])
  expect(parseItem('job:123/house::momentum')).toEqual({ kind: 'job', id: '123', agent: 'house::momentum' })
  expect(parseItem('job:123/lab::a/b')).toEqual({ kind: 'job', id: '123', agent: 'lab::a/b' })
  expect(parseItem('experiment:9')).toEqual({ kind: 'experiment', id: '9', agent: null })
  expect(parseItem('baseline:buy_and_hold')).toEqual({ kind: 'baseline', id: 'buy_and_hold', agent: null })
  expect(parseItem('latest')).toEqual({ kind: 'latest', id: '', agent: null })
  expect(toggled(toggled(['a'], 'b'), 'a')).toEqual(['b'])
})

it('offers a branch’s parent unless it is selected', () => {
  const jobs = [{ job_id: 'branch', simulation: { agents: [{ name: 'm' }], branch: { job_id: 'parent', date: '2012-10-01', at: 'solo#1' } } }] as Job[]
  expect(parentOf([agentItem('branch', 'm')], jobs)).toBe('job:parent/m')
  expect(parentOf(['job:branch'], jobs)).toBe('job:parent/m')
  expect(parentOf([agentItem('branch', 'm'), 'job:parent'], jobs)).toBeNull()
  expect(parentOf(['job:other'], jobs)).toBeNull()
})

it('draws the cone around the other line only if their distance is the difference', () => {
  const curve = (values: number[]) => values.map((log_return, index) => ({ date: `2012-10-0${index + 1}`, log_return }))
  const cone = [0.01, 0.03].map((cumulated, index) => ({ date: `2012-10-0${index + 1}`, cumulated, half_width: 0.02 }))
  const one = pair({ cone })
  const items = [item('x', { curve: curve([0.02, 0.05]) }), item('y', { curve: curve([0.01, 0.02]) })]
  const band = bandAround(one, items)
  expect(band.map((point) => point.date)).toEqual(['2012-10-01', '2012-10-02'])
  expect(band[1]?.low).toBeCloseTo(Math.expm1(0), 12)
  expect(band[1]?.high).toBeCloseTo(Math.expm1(0.04), 12)
  expect(bandAround(one, [item('x', { curve: curve([0.12, 0.15]) }), items[1] as ComparedItem])).toEqual([])
  expect(coneBand(one)[0]).toEqual({ date: '2012-10-01', low: -0.02, high: 0.02 })
  expect(linesOf(items, (one) => one.label)[0]?.points[1]?.value).toBeCloseTo(Math.expm1(0.05), 12)
  expect(daysOf(items)).toEqual(['2012-10-01', '2012-10-02'])
})

it('translates a verdict and what it depends on', () => {
  const depends = { verdict: 'not_distinguishable' as const, words: 'not distinguishable (depends on the fill, depends on model cost)' }
  expect(verdictText(depends, english)).toBe(depends.words)
  expect(verdictText(depends, (key, values) => translate('zh', key, values))).toBe('无法区分 (取决于成交方式、取决于模型费用)')
})

it('shows no interval and no p-value under 20 days, and nothing per year under 60', async () => {
  await show(<PairDetail pair={pair()} items={[item('x'), item('y')]} target={10} />)
  const row = screen.getByRole('row', { name: /All shared days/ })
  expect(within(row).getByText('+1.5 pt')).toBeTruthy()
  expect(within(row).getByText('no interval under 20 days')).toBeTruthy()
  expect(row.textContent).not.toMatch(/\[/)
  expect(row.querySelectorAll('td')[2]?.textContent).toBe('–')
  expect(row.querySelectorAll('td')[4]?.textContent).toBe('–')
  expect(screen.getByText('15 shared days; a verdict needs 60')).toBeTruthy()
  expect(document.body.textContent).not.toContain('would not have been seen')
})

it('shows what a test is missing, and results of selected days without a p-value', async () => {
  const full = { days: 40, mean_daily: 0.001, total: 0.04, total_interval: { low: -0.01, high: 0.09 }, p_value: 0.01 }
  await show(<PairDetail pair={pair({ days: 80, holm_p: 0.0004, min_detectable_points: 46.06, days_needed: 5026, refilled: { unavailable: 'the orders cannot be refilled' }, full_research: full })} items={[]} target={10} />)
  expect(screen.getByText('the orders cannot be refilled')).toBeTruthy()
  expect(within(screen.getByRole('row', { name: /All shared days/ })).getByText('< 0.001')).toBeTruthy()
  const row = screen.getByRole('row', { name: /Days with full research/ })
  expect(row.textContent).toContain('[-1.0, +9.0]')
  expect(row.querySelectorAll('td')[4]?.textContent).toBe('–')
  expect(screen.getByText(/Differences under 46.1 points per year.*5,026 days are needed to detect 10 points/)).toBeTruthy()
})

it('lists every pair with its verdict, and whether the family was declared', async () => {
  const onSelect = vi.fn()
  const pairs = [pair(), pair({ a: 'y', b: 'x', verdict: 'better', words: 'better' })]
  await show(<Verdicts found={comparison(pairs)} selected={pairs[0]} onSelect={onSelect} />)
  expect(screen.getByText(/The family was chosen with this request, not in advance./)).toBeTruthy()
  expect(screen.getByText('better', { exact: false })).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'y against x' }))
  expect(onSelect).toHaveBeenCalledWith(1)
})

it('marks rules, insolvent and interim items, and says why there is no Sharpe ratio', async () => {
  respondWith('/results', { results: [{ model: 'x', provenance: { point_in_time: 'unverified', reasons: [] }, full_research: { days: 15, total_days: 15 }, training_cutoffs: [], period_metrics: { days: 15, annualized_unavailable: 'too_few_days' } }] })
  await show(
    <MetricsView
      items={[
        item('x', { is_llm: false, sharpe_unavailable: 'too_few_days', mean: { days: 15, mean_daily: 0.001 }, model_cost_usd: null }),
        item('y', { insolvent_on: '2012-10-09', interim: 'day 15 of 60', sharpe_unavailable: 'insolvent' }),
        item('baseline:buy_and_hold', { kind: 'baseline', is_llm: null, job_ids: [] }),
      ]}
    />,
  )
  expect(screen.getByText('Not an LLM')).toBeTruthy()
  expect(await screen.findByText('Point-in-time unverified')).toBeTruthy()
  expect(screen.getAllByText('Interim').length).toBeGreaterThan(0)
  expect(screen.getByText('under 60 days')).toBeTruthy()
  expect(screen.getByText('no interval under 20 days n=15')).toBeTruthy()
  expect(screen.getAllByText('Cost unknown')).toHaveLength(2)
  expect(screen.getByText('Oct 9, 2012')).toBeTruthy()
})

it('names the runs of the selected items', async () => {
  const jobs = [runJob('job-1', { labels: { name: 'Autumn', tags: [] } }), runJob('00000000-job-2')]
  respondWith('/jobs', { jobs, count: 2, next_cursor: null })
  respondWith('/experiments', { experiments: [], count: 0, next_cursor: null })
  await show(<Picker items={['job:job-1', 'job:00000000-job-2/house::momentum']} search={{}} onChange={() => undefined} />)
  expect(await screen.findByRole('button', { name: 'Remove house::momentum · Autumn' })).toBeTruthy()
  expect(screen.getByRole('button', { name: 'Remove house::momentum · 00-job-2' })).toBeTruthy()
  expect(screen.getByRole('group', { name: /^Autumn Oct 1/ })).toBeTruthy()
})

it('names the run whose setup is shown', async () => {
  respondWith('/jobs/job-1', { job: runJob('job-1', { labels: { name: 'Autumn', tags: [] } }) })
  respondWith('/results', { results: [] })
  await show(<SetupView items={[item('job:job-1/house::momentum', { agent: 'house::momentum' })]} pair={undefined} />)
  expect((await screen.findByRole('link', { name: 'Autumn' })).getAttribute('href')).toBe('/app/runs/job-1')
})
