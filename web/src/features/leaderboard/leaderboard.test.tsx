import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { expect, it, vi } from 'vitest'
import type { Board, LeaderboardEntry } from '@/server/types'
import { changeSettings } from '@/shared/settings'
import * as files from '@/shared/csv'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { Leaderboard } from './LeaderboardPage'
import { ENTRY_FILE } from './file'
import { compareItems, itemOf, rankText, scaleOf } from './rows'
import { TEXTS } from './texts'

const entry = (label: string, part: Partial<LeaderboardEntry> = {}): LeaderboardEntry => ({
  label,
  kind: 'agent',
  agent: label,
  models: [label],
  is_llm: true,
  configuration: label,
  job_ids: [`job-${label}`],
  experiment_ids: [],
  trials: 3,
  omitted_runs: 0,
  days: 120,
  planned_days: 120,
  rank: { best: 1, worst: 2 },
  unranked: null,
  against: { better: 0, worse: 0, not_distinguishable: 1, not_compared: 0 },
  total_return: 0.05,
  interval: { low: -0.1, high: 0.2 },
  return_spread: null,
  mean: null,
  annualized_return: 0.11,
  sharpe: null,
  sharpe_unavailable: 'several_trials',
  max_drawdown: 0.08,
  model_cost_usd: 1.5,
  net_total_return: 0.04,
  quality: { model_days: 360, degraded_days: 0, degraded_share: 0, no_decision_days: 0, no_decision_share: 0, failed_days: 0 },
  point_in_time: 'verified',
  point_in_time_reason: null,
  imported_from: null,
  mask: null,
  insolvent_on: null,
  interim: null,
  training_cutoffs: [],
  ...part,
})
const USAGE = { cached_tokens: 0, cost: 'known', cost_usd: 1, estimated_calls: 0, input_tokens: 1, output_tokens: 1, priced_cost_usd: 1 }
const PROGRESS = { completed: 1, failed: 0, pending: 0, skipped: 0, total_model_days: 1 }
const board = (id: string, entries: LeaderboardEntry[] | null, part: Partial<Board> = {}): Board => ({
  board_id: id,
  dataset: 'us-daily',
  dataset_hash: 'd',
  market: 'us_equity',
  market_hash: 'm',
  universe: 'AAPL, IBM',
  universe_hash: 'u',
  costs: 'with costs',
  costs_hash: 'c',
  fill: 'next_open',
  mask: null,
  start_date: '2012-01-03',
  end_date: '2012-06-29',
  runs: 8,
  configurations: 3,
  newest_run: '2026-11-22T05:00:00Z',
  models: [],
  ranked: 3,
  tests: 3,
  omitted_configurations: 0,
  entries,
  notes: [],
  ...part,
})
const response = (boards: Board[], part: object = {}) => ({
  method_version: 1,
  count: boards.length,
  total: boards.length,
  is_truncated: false,
  boards,
  excluded: { branches: 0, continued: 0, with_memory: 0, unreadable: 0 },
  deployment_mode: 'prod',
  is_dev_mode: false,
  ...part,
})

/** Lists `all`, and returns the one that is requested. */
function serve(all: Board[], part: object = {}) {
  network.use(
    http.get('/leaderboard', ({ request }) => {
      const url = new URL(request.url)
      const id = url.searchParams.get('board')
      if (url.searchParams.get('summary') === 'true') return HttpResponse.json(response(all.map((one) => ({ ...one, entries: null })), part))
      return HttpResponse.json(response(all.filter((one) => one.board_id === id)))
    }),
  )
}

const ENTRIES = [
  entry('alpha'),
  entry('beta', {
    rank: { best: 1, worst: 2 },
    total_return: 0.04,
    model_cost_usd: null,
    quality: { model_days: 360, degraded_days: 90, degraded_share: 0.25, no_decision_days: 5, no_decision_share: 0.0139, failed_days: 1 },
    point_in_time: 'unverified',
    point_in_time_reason: { kind: 'external_tools', job: 'job-beta', session: 1, date: '2012-01-03' },
    mask: 'dates',
    omitted_runs: 2,
    training_cutoffs: [{ model: 'beta', status: 'unknown', date: null, states: null, source: null, checked: null, days: 120, days_before: null, warning: 'unknown' }],
  }),
  entry('rules', { is_llm: false, rank: { best: 3, worst: 3 }, total_return: -0.2, interval: { low: -0.3, high: -0.1 }, trials: 1, sharpe: { days: 120, annualized: -1.5, interval: { low: -3, high: 0 } }, sharpe_unavailable: null }),
  entry('buy and hold', { kind: 'baseline', agent: null, is_llm: null, job_ids: [], models: [], quality: null, point_in_time: null, model_cost_usd: 0 }),
  entry('ruined', { rank: null, unranked: 'insolvent', insolvent_on: '2012-03-01', total_return: null, interval: null }),
]

// Goal: entries that are not distinguishable show the same ranks, each entry its interval, cost and marks, and links to its run and to
// a comparison; what is not ranked says why.
it('shows shared ranks, intervals and marks', async () => {
  serve([board('b1', ENTRIES, { notes: ['single_runs'] })])
  await show(<Leaderboard selected={undefined} model={undefined} onChange={() => undefined} />)
  const row = async (name: RegExp) => within((await screen.findByText(name)).closest('tr') as HTMLElement)
  const alpha = await row(/^alpha$/)
  expect(alpha.getByText('1–2')).toBeTruthy()
  expect(alpha.getByText('+5.00%')).toBeTruthy()
  expect(alpha.getByText('[-10.0%, +20.0%]')).toBeTruthy()
  expect(alpha.getByText('several trials')).toBeTruthy()
  expect(alpha.getByText('$1.50')).toBeTruthy()
  expect(alpha.getByRole('link', { name: 'alpha' }).getAttribute('href')).toBe('/app/runs/job-alpha')
  const beta = await row(/^beta$/)
  expect(beta.getByText('1–2')).toBeTruthy()
  expect(beta.getByText('unknown')).toBeTruthy()
  expect(beta.getByText('25.0%').title).toBe('90 of 360 model-days are degraded: 5 without a decision, 1 failed')
  expect(screen.getByText('Next open')).toBeTruthy()
  expect(screen.getByRole('columnheader', { name: /^Degraded/ }).className).toContain('stays-end')
  for (const mark of ['masked: dates', 'cut-off unknown', '+2']) expect(beta.getByText(mark)).toBeTruthy()
  expect((await row(/^rules$/)).getByText('3')).toBeTruthy()
  expect((await row(/^rules$/)).getByText('[-3.00, 0.00]')).toBeTruthy()
  expect((await row(/^Buy-and-hold$/)).getByText('Baseline')).toBeTruthy()
  expect((await row(/^ruined$/)).getAllByText('insolvent')).toHaveLength(2)
  expect(screen.getByText('3 ranked by 3 tests of all pairs, adjusted by Holm at 5%.')).toBeTruthy()
  expect(screen.getByText(/Run 3 or more trials/)).toBeTruthy()
  const compared = screen.getByRole('link', { name: 'Compare the first 4' }).getAttribute('href')
  expect(decodeURIComponent(compared ?? '')).toContain('select=job:job-alpha/alpha,job:job-beta/beta,job:job-rules/rules')
})

// Goal: a column sorts, and entries without a value come last.
it('sorts by a column', async () => {
  serve([board('b1', ENTRIES)])
  await show(<Leaderboard selected="b1" model={undefined} onChange={() => undefined} />)
  await userEvent.click(await screen.findByRole('button', { name: /^Return/ }))
  const names = () => screen.getAllByRole('row').slice(1).map((one) => one.querySelectorAll('td')[1]?.querySelector('a, strong')?.textContent)
  expect(names()).toEqual(['alpha', 'Buy-and-hold', 'beta', 'rules', 'ruined'])
  await userEvent.click(screen.getByRole('button', { name: /^Return/ }))
  expect(names()).toEqual(['rules', 'beta', 'alpha', 'Buy-and-hold', 'ruined'])
})

// Goal: the chooser names each board by what makes its runs comparable, and selects one.
it('chooses a board', async () => {
  const chosen: object[] = []
  serve([board('b1', [entry('alpha')]), board('b2', [entry('masked one')], { mask: 'all' })], { total: 130, excluded: { branches: 1, continued: 2, with_memory: 0, unreadable: 0 } })
  await show(<Leaderboard selected={undefined} model={undefined} onChange={(part) => chosen.push(part)} />)
  await screen.findByText('alpha')
  expect(screen.getByRole('option', { name: /mask all · us_equity · 3$/ })).toBeTruthy()
  expect(screen.getByText('Only the 2 newest of 130 boards are listed.')).toBeTruthy()
  expect(screen.getByText(/3 runs are not on any board/)).toBeTruthy()
  await userEvent.selectOptions(screen.getByRole('combobox', { name: 'Board' }), 'b2')
  expect(chosen).toEqual([{ board: 'b2' }])
})

it('says how to get a leaderboard if there is none, and shows a failure', async () => {
  serve([])
  const { unmount } = await show(<Leaderboard selected={undefined} model={undefined} onChange={() => undefined} />)
  expect(await screen.findByText('No leaderboard yet')).toBeTruthy()
  unmount()
  respondWith('/leaderboard', { error: 'internal', message: 'it broke' }, 500)
  await show(<Leaderboard selected={undefined} model={undefined} onChange={() => undefined} />)
  expect(await screen.findByRole('alert')).toBeTruthy()
})

it('is in Chinese too', async () => {
  changeSettings({ language: 'zh' })
  serve([board('b1', ENTRIES)])
  await show(<Leaderboard selected={undefined} model={undefined} onChange={() => undefined} />)
  expect(await screen.findByText('买入持有')).toBeTruthy()
  expect(screen.getByText('3 个条目参与排名，共 3 次两两检验，Holm 校正，水平 5%。')).toBeTruthy()
  changeSettings({ language: 'en' })
})

it('has every text in both languages, with the same placeholders', () => {
  const placeholders = (text: string) => [...new Set([...text.matchAll(/\{(\w+)(?::[^}]*)?\}/g)].map((found) => found[1]))].sort()
  for (const [key, text] of Object.entries(TEXTS.en)) {
    const chinese = TEXTS.zh[key as keyof typeof TEXTS.en]
    expect(chinese.trim(), key).not.toBe('')
    expect(placeholders(chinese), key).toEqual(placeholders(text))
  }
})

it('writes ranks, and draws all intervals on one scale', () => {
  expect(rankText(entry('a', { rank: { best: 2, worst: 2 } }))).toBe('2')
  expect(rankText(entry('a', { rank: null }))).toBeNull()
  expect(scaleOf(ENTRIES)).toBe(0.3)
  expect(scaleOf([])).toBeGreaterThan(0)
  expect(compareItems(Array.from({ length: 9 }, (_, at) => entry(`m${at}`)), new Map())).toHaveLength(6)
})

// Goal: a file has what the table shows as words, marks and intervals, as values, under a name of its own.
it('writes ranks, intervals, runs and marks to a file', async () => {
  const written = vi.spyOn(files, 'downloadCsv').mockImplementation(() => undefined)
  serve([board('b1', ENTRIES)])
  await show(<Leaderboard selected="b1" model={undefined} onChange={() => undefined} />)
  await userEvent.click(await screen.findByRole('button', { name: 'Download Leaderboard' }))
  await userEvent.click(screen.getByRole('button', { name: 'CSV', hidden: true }))
  await expect.poll(() => written.mock.calls.length).toBe(1)
  const [name, columns = [], rows = []] = written.mock.calls[0] ?? []
  expect(name).toBe('leaderboard-b1.csv')
  const valuesOf = (label: string) => {
    const row = rows.find((one) => one[columns.indexOf('entry')] === label) ?? []
    return Object.fromEntries(columns.map((column, index) => [column, row[index]]))
  }
  expect(valuesOf('beta')).toMatchObject({
    best_rank: 1, worst_rank: 2, job_ids: 'job-beta', is_llm: true, point_in_time: 'unverified', point_in_time_reason: 'external_tools', mask: 'dates',
    training_cutoffs: 'beta=unknown', total_return: 0.04, total_return_low: -0.1, total_return_high: 0.2, degraded_share: 0.25, model_cost_usd: null,
  })
  expect(valuesOf('rules')).toMatchObject({ is_llm: false, sharpe: -1.5, sharpe_low: -3, sharpe_high: 0 })
  expect(valuesOf('ruined')).toMatchObject({ best_rank: undefined, unranked: 'insolvent', insolvent_on: '2012-03-01' })
  written.mockRestore()
})

it('writes the days before a cut-off only if all cut-offs are known', () => {
  const cutoff = (days_before: number | null) => ({ model: `m${days_before}`, status: 'stated', date: '2012-01-31', days: 120, days_before })
  const days = (...before: (number | null)[]) => ENTRY_FILE.days_before_cutoff?.(entry('a', { training_cutoffs: before.map(cutoff) }))
  expect([days(), days(4, 20), days(4, null)]).toEqual([null, 20, null])
})

// Goal: an entry is compared with all its trials where an experiment has exactly these.
it('compares the trials of an experiment, if it has the days and all jobs of the entry', () => {
  const trials = entry('a', { job_ids: ['j2', 'j1'], experiment_ids: ['x'] })
  const plan = (...jobs: { job_id: string; window?: number; mask?: string }[]) =>
    new Map([['x', { jobs: jobs.map(({ window = 1, ...job }, index) => ({ seed: index, status: 'completed' as const, trial: index + 1, window, progress: PROGRESS, usage: USAGE, ...job })) }]])
  expect(itemOf(trials, plan({ job_id: 'j1' }, { job_id: 'j2' }, { job_id: 'j3' }))).toBe('experiment:x/a')
  expect(itemOf(trials, plan({ job_id: 'j1', mask: 'all' }, { job_id: 'j2', mask: 'all' }, { job_id: 'j3', mask: 'none' }))).toBe('experiment:x/a@all')
  // Not loaded; a job of no experiment; other days; two experiments.
  expect(itemOf(trials, new Map())).toBe('job:j2/a')
  expect(itemOf(trials, plan({ job_id: 'j2' }))).toBe('job:j2/a')
  expect(itemOf(trials, plan({ job_id: 'j1' }, { job_id: 'j2' }, { job_id: 'j3', window: 2 }))).toBe('job:j2/a')
  expect(itemOf(entry('a', { job_ids: ['j2'], experiment_ids: ['x', 'y'] }), plan({ job_id: 'j2' }))).toBe('job:j2/a')
  expect(itemOf(entry('hold', { agent: null }), new Map())).toBeNull()
})

it('links to the comparison of an experiment once its plan is known', async () => {
  respondWith('/experiments/x', { jobs: [{ job_id: 'job-alpha', window: 1 }, { job_id: 'job-beta', window: 1 }] })
  serve([board('b1', [entry('alpha', { experiment_ids: ['x'] }), entry('beta', { experiment_ids: ['x'] })])])
  await show(<Leaderboard selected="b1" model={undefined} onChange={() => undefined} />)
  const address = async () => decodeURIComponent((await screen.findByRole('link', { name: /Compare the first/ })).getAttribute('href') ?? '')
  await expect.poll(address).toContain('select=experiment:x/alpha,experiment:x/beta')
})

// Goal: the boards of a model or agent are found by the server, and its entries stand out.
it('filters boards by a model or agent', async () => {
  const requests: URLSearchParams[] = []
  const changes: object[] = []
  network.use(
    http.get('/leaderboard', ({ request }) => {
      const query = new URL(request.url).searchParams
      requests.push(query)
      const boards = query.get('model') === 'nobody' ? [] : [board('b1', query.has('summary') ? null : ENTRIES)]
      return HttpResponse.json({ method_version: 1, count: boards.length, total: boards.length, is_truncated: false, boards, excluded: { branches: 0, continued: 0, with_memory: 0, unreadable: 0 }, deployment_mode: 'prod', is_dev_mode: false })
    }),
  )
  const { unmount } = await show(<Leaderboard selected="gone" model="beta" onChange={(part) => changes.push(part)} />)
  const row = (await screen.findByText(/^beta$/)).closest('tr')
  expect(row?.className).not.toBe('')
  expect(screen.getByText(/^alpha$/).closest('tr')?.className).toBe('')
  expect(requests.map((query) => [query.get('model'), query.get('board')])).toEqual([['beta', null], [null, 'b1']])
  const field = screen.getByRole('combobox', { name: 'Agent or model' })
  await userEvent.clear(field)
  await userEvent.type(field, ' alpha {Enter}')
  await userEvent.click(screen.getByRole('button', { name: 'Clear filter' }))
  expect(changes).toEqual([{ model: 'alpha' }, { model: undefined }])
  unmount()
  await show(<Leaderboard selected={undefined} model="nobody" onChange={() => undefined} />)
  expect(await screen.findByText('No board has a run of nobody')).toBeTruthy()
})
