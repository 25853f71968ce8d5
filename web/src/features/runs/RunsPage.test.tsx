// Goal: the list shows what the server finds, sends what the address says, loads further pages, and edits labels only
// with the scope for it.
import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { beforeEach, expect, it, vi } from 'vitest'
import { Sparkline } from '@/charts/Sparkline'
import { makeQueryClient } from '@/server/cache'
import { I18nProvider } from '@/shared/i18n'
import { changeSettings } from '@/shared/settings'
import { network, respondWith } from '@/test/network'
import { parseRunsSearch } from './address'
import { RunsPage } from './RunsPage'

vi.mock('@/charts/Sparkline', () => ({ Sparkline: vi.fn(() => null) }))

const job = (id: string, labels: object = {}) => ({
  job_id: id,
  kind: 'simulate',
  status: 'completed',
  error: null,
  progress: { total_model_days: 5, completed: 5, failed: 0, skipped: 0, pending: 0 },
  created_at: '2026-11-22T05:00:00Z',
  started_at: null,
  completed_at: null,
  total_duration_seconds: null,
  quality: { degraded_days: 0, failed_days: 0, first: null },
  usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0, priced_cost_usd: 0, estimated_calls: 0, cost: 'known' },
  warnings: [],
  parent: null,
  superseded_by: null,
  superseded: {},
  rules_version: 2,
  labels: { name: null, tags: [], note: null, updated_at: null, updated_by: null, ...labels },
  experiment: null,
  simulation: {
    dataset: { name: 'us', hash: '00ff' },
    start_date: '2012-10-01',
    end_date: '2012-10-05',
    symbols: ['AAPL'],
    agents: [{ name: 'house::momentum', kind: 'solo', model: 'house::momentum', is_llm: false }],
    continues: {},
    branch: null,
    imported: null,
  },
})

let requests: URLSearchParams[]

beforeEach(() => {
  requests = []
  changeSettings({ runColumns: undefined as never })
  respondWith('/access', { error: 'not_found', message: 'none' }, 404)
  respondWith('/results', { error: 'not_found', message: 'none' }, 404)
  network.use(
    http.get('/jobs', ({ request }) => {
      const query = new URL(request.url).searchParams
      requests.push(query)
      const jobs = query.get('cursor') ? [job('job-3')] : [job('job-1', { name: 'Autumn', tags: ['paper'] }), job('job-2')]
      return HttpResponse.json({ jobs, count: jobs.length, next_cursor: query.get('cursor') ? null : 'next' })
    }),
  )
})

async function open(address: string) {
  const root = createRootRoute()
  const runs = createRoute({ getParentRoute: () => root, path: '/app/runs', validateSearch: parseRunsSearch, component: RunsPage })
  const rest = createRoute({ getParentRoute: () => root, path: '/app/$', component: () => null })
  const router = createRouter({ routeTree: root.addChildren([runs, rest]), history: createMemoryHistory({ initialEntries: [address] }) })
  await router.load()
  const client = makeQueryClient()
  client.setDefaultOptions({ queries: { ...client.getDefaultOptions().queries, retry: false } })
  render(
    <QueryClientProvider client={client}>
      <I18nProvider>
        <RouterProvider router={router as never} />
      </I18nProvider>
    </QueryClientProvider>,
  )
  return router
}

it('sends the search, filters and order of the address, and changes them', async () => {
  const router = await open('/app/runs?search=autumn&status=completed&sort=name')
  await screen.findByRole('link', { name: 'Autumn' })
  expect(Object.fromEntries(requests[0] ?? [])).toMatchObject({ kind: 'simulate', search: 'autumn', status: 'completed', sort: 'name' })
  expect(screen.getByRole('columnheader', { name: /^Run/ }).getAttribute('aria-sort')).toBe('ascending')
  fireEvent.click(within(screen.getByRole('columnheader', { name: /Research/ })).getByRole('button'))
  await waitFor(() => expect(router.state.location.search).toMatchObject({ sort: '-quality', search: 'autumn' }))
  await waitFor(() => expect(requests.at(-1)?.get('sort')).toBe('-quality'))
  fireEvent.click(await screen.findByRole('button', { name: 'Clear filters' }))
  await waitFor(() => expect(requests.at(-1)?.get('search')).toBeNull())
})

it('loads the next page when its rows come near', async () => {
  await open('/app/runs')
  await waitFor(() => expect(requests.map((query) => query.get('cursor'))).toEqual([null, 'next']))
  expect(await screen.findByText('3 runs loaded')).toBeTruthy()
})

it('links two to six selected runs to their comparison', async () => {
  await open('/app/runs')
  fireEvent.click(await screen.findByRole('checkbox', { name: 'Select Autumn to compare' }))
  expect(screen.getByRole('button', { name: 'Compare' })).toHaveProperty('disabled', true)
  fireEvent.click(screen.getAllByRole('checkbox', { name: 'Select AAPL to compare' })[0] as HTMLElement)
  const link = await screen.findByRole('link', { name: 'Compare 2 runs' })
  const address = new URL(link.getAttribute('href') ?? '', 'http://localhost')
  expect([address.pathname, address.searchParams.get('select')]).toEqual(['/app/compare', 'job:job-1,job:job-2'])
})

it('renders no cells again when a row is selected or the list scrolls', async () => {
  await open('/app/runs')
  const box = await screen.findByRole('checkbox', { name: 'Select Autumn to compare' })
  await screen.findByText('3 runs loaded')
  await waitFor(() => expect(screen.queryByText('…')).toBeNull())
  vi.mocked(Sparkline).mockClear()
  fireEvent.click(box)
  expect(box).toHaveProperty('checked', true)
  fireEvent.scroll(screen.getByRole('table'), { target: { scrollTop: 5 } })
  expect(Sparkline).not.toHaveBeenCalled()
})

it('edits labels in the row, and sends only what was edited', async () => {
  let sent: unknown
  network.use(
    http.patch('/jobs/job-1/labels', async ({ request }) => {
      sent = await request.json()
      return HttpResponse.json({ job_id: 'job-1', labels: { name: 'Winter', tags: ['paper'], note: null, updated_at: null, updated_by: null } })
    }),
  )
  await open('/app/runs')
  fireEvent.click(await screen.findByRole('button', { name: 'Edit labels of Autumn' }))
  fireEvent.change(screen.getByLabelText('Name'), { target: { value: 'Winter' } })
  fireEvent.click(screen.getByRole('button', { name: 'Save' }))
  await screen.findByRole('link', { name: 'Winter' })
  expect(sent).toEqual({ name: 'Winter' })
  expect(screen.queryByRole('form', { name: 'Edit labels' })).toBeNull()
})

it('has no edit buttons for a read-only token', async () => {
  respondWith('/access', { required: true, name: 'reader', scope: 'read' })
  await open('/app/runs')
  await screen.findByRole('link', { name: 'Autumn' })
  expect(screen.queryByRole('button', { name: /Edit labels/ })).toBeNull()
})

it('hides a column and remembers it, but never the research quality', async () => {
  await open('/app/runs')
  await screen.findByRole('columnheader', { name: 'Drawdown' })
  const menu = screen.getByRole('group', { name: 'Columns', hidden: true })
  fireEvent.click(within(menu).getByLabelText('Drawdown'))
  await waitFor(() => expect(screen.queryByRole('columnheader', { name: 'Drawdown' })).toBeNull())
  expect(within(menu).getByLabelText('Research')).toHaveProperty('disabled', true)
  expect(JSON.parse(localStorage.getItem('papertape.settings') ?? '{}').runColumns).not.toContain('drawdown')
})

it('says how to start the first run', async () => {
  respondWith('/jobs', { jobs: [], count: 0, next_cursor: null })
  await open('/app/runs')
  await screen.findByText('No runs yet')
  expect(screen.getByText('papertape run --demo')).toBeTruthy()
  expect(screen.queryByRole('search')).toBeNull()
})
