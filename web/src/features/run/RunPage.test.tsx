// Goal: the address of a run's page holds what is selected on it.
import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { expect, it, vi } from 'vitest'
import { makeQueryClient } from '@/server/cache'
import { I18nProvider } from '@/shared/i18n'
import { network, respondWith } from '@/test/network'
import { RunPage } from './RunPage'
import { parseRunSearch } from './search'

vi.mock('lightweight-charts', async () => (await import('@/test/charts')).chartLibrary)

const agent = (name: string) => ({ name, model: name, kind: 'solo', is_llm: false })
const job = {
  job_id: 'job-1',
  kind: 'simulation',
  status: 'completed',
  created_at: '2026-11-22T05:00:00Z',
  labels: { name: null, tags: [], note: null },
  warnings: [],
  superseded: {},
  can_resume: false,
  progress: { completed: 2, failed: 0, pending: 0, skipped: 0, total_model_days: 2 },
  quality: { degraded_days: 0, failed_days: 0 },
  usage: { cached_tokens: 0, cost: 'known', cost_usd: 0, estimated_calls: 0, input_tokens: 0, output_tokens: 0, priced_cost_usd: 0 },
  simulation: { agents: [agent('a'), agent('b')], continues: {}, dataset: { name: 'd', hash: 'd' }, end_date: '2012-10-01', initial_cash: 1000, market: 'us', memory: 'off', start_date: '2012-10-01', symbols: ['IBM', 'AAPL'] },
}
const curve = (model: string) => ({ model, is_llm: false, starting_portfolio_value: 100, done_before: [], portfolio_values: [110], statuses: ['completed'], full_research: [false] })
const metrics = { days: 1, total_return: 0.1, annualized_unavailable: 'too_few_days' }
const result = (model: string) => ({
  model,
  is_llm: false,
  starting_portfolio_value: 100,
  ending_portfolio_value: 110,
  period_metrics: metrics,
  full_research: { days: 0, total_days: 1, period_metrics: metrics },
  training_cutoffs: [],
  provenance: { reasons: [] },
  daily_portfolio_values: [{ date: '2012-10-01', portfolio_value: 110 }],
  history: { months: [], drawdowns: [], rolling_sharpe: [] },
})

async function open(address: string) {
  const requested = new Set<string>()
  respondWith('/jobs/job-1', { job })
  respondWith('/jobs/job-1/curves', { job_id: 'job-1', dates: ['2012-10-01'], agents: [curve('a'), curve('b')], cancel_requested: false })
  respondWith('/datasets/d', { name: 'd', zone: 'America/New_York', indexes: ['SPX'], symbols: ['AAPL', 'IBM'] })
  respondWith('/datasets/d/bars', { error: 'not_found', message: '' }, 404)
  respondWith('/reasoning', { sessions: [] })
  network.use(
    http.get('/results', ({ request }) => {
      requested.add(new URL(request.url).searchParams.get('benchmark') ?? '')
      return HttpResponse.json({ results: [result('a'), result('b')] })
    }),
  )
  const root = createRootRoute()
  const run = createRoute({ getParentRoute: () => root, path: '/app/runs/$jobId', validateSearch: parseRunSearch, component: RunPage })
  const rest = createRoute({ getParentRoute: () => root, path: '/app/$', component: () => null })
  const router = createRouter({ routeTree: root.addChildren([run, rest]), history: createMemoryHistory({ initialEntries: [address] }) })
  await router.load()
  render(
    <QueryClientProvider client={makeQueryClient()}>
      <I18nProvider>
        <RouterProvider router={router as never} />
      </I18nProvider>
    </QueryClientProvider>,
  )
  return { search: () => router.state.location.search, entries: () => router.history.length, requested }
}
const select = (name: string) => screen.findByRole('combobox', { name })
const valueOf = async (name: string) => ((await select(name)) as HTMLSelectElement).value

it('opens the trades that the address selects', async () => {
  await open('/app/runs/job-1?tab=trades&symbol=AAPL&agent=b&scope=all')
  expect(await valueOf('Agent')).toBe('b')
  expect(within(screen.getByRole('group', { name: 'Symbol' })).getByRole('button', { name: 'AAPL' }).getAttribute('aria-pressed')).toBe('true')
  expect(screen.getAllByRole('button', { name: 'All symbols' }).map((one) => one.getAttribute('aria-pressed'))).toEqual(['true', 'true'])
})

it('writes the selection of the trades to the address, without defaults and without history', async () => {
  const { search, entries } = await open('/app/runs/job-1?tab=trades')
  expect(await valueOf('Agent')).toBe('a')
  fireEvent.change(await select('Agent'), { target: { value: 'b' } })
  await waitFor(() => expect(search()).toEqual({ tab: 'trades', agent: 'b' }))
  fireEvent.click(within(screen.getByRole('group', { name: 'Symbol' })).getByRole('button', { name: 'AAPL' }))
  fireEvent.click(screen.getAllByRole('button', { name: 'All symbols' })[0] as HTMLElement)
  await waitFor(() => expect(search()).toEqual({ tab: 'trades', agent: 'b', symbol: 'AAPL', scope: 'all' }))
  fireEvent.change(await select('Agent'), { target: { value: 'a' } })
  fireEvent.click(screen.getAllByRole('button', { name: 'AAPL' }).at(-1) as HTMLElement)
  await waitFor(() => expect(search()).toEqual({ tab: 'trades', symbol: 'AAPL' }))
  expect(entries()).toBe(1)
})

it('requests the benchmark of the address, and shows the days that it selects', async () => {
  const { search, requested } = await open('/app/runs/job-1?benchmark=SPX&days=full')
  const full = await screen.findByRole('button', { name: 'Full research only', pressed: true })
  expect(full).toBeTruthy()
  expect(await valueOf('Benchmark')).toBe('SPX')
  expect([...requested]).toEqual(['SPX'])
  fireEvent.change(await select('Benchmark'), { target: { value: '' } })
  fireEvent.click(screen.getByRole('button', { name: 'All days' }))
  await waitFor(() => expect(search()).toEqual({}))
  await waitFor(() => expect([...requested]).toEqual(['SPX', '']))
})
