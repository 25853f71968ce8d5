import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { describe, expect, it } from 'vitest'
import type { Job } from '@/server/types'
import { makeFormat } from '@/shared/format'
import { translate } from '@/shared/i18n'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { dayOf, excerpt, found, matches, runActions, runEntries, sessionEntries, withoutDay } from './entries'
import { Palette } from './Palette'

const t = (key: Parameters<typeof translate>[1], values?: Parameters<typeof translate>[2]) => translate('en', key, values)
const job = (part: object = {}): Job =>
  ({ job_id: 'job-00000000-12345678', status: 'partial', can_resume: true, created_at: '2026-11-22T05:00:00Z', labels: { name: null, note: null, tags: [] }, simulation: { agents: [{ name: 'trader', model: 'house::momentum', kind: 'solo', is_llm: false }], symbols: ['AAPL', 'IBM'], start_date: '2012-10-01', end_date: '2012-10-12' }, ...part }) as unknown as Job

it('finds a session by day and agent', () => {
  expect(dayOf('trader 2012-10-02')).toBe('2012-10-02')
  expect(dayOf('20121002')).toBe('2012-10-02')
  expect(dayOf('2012年10月2日')).toBe('2012-10-02')
  expect(dayOf('2012-13-40')).toBeNull()
  expect(withoutDay('trader 2012-10-02  IBM')).toBe('trader IBM')
  const format = makeFormat('en-US')
  expect(sessionEntries([job()], '2012-10-02 mom', format, t).map((entry) => entry.to)).toEqual(['/app/runs/job-00000000-12345678/2012-10-02/trader'])
  expect(sessionEntries([job()], '2012-10-02 contrarian', format, t)).toEqual([])
  expect(sessionEntries([job()], '2013-10-02', format, t)).toEqual([])
})

it('offers no changes to a read-only user', () => {
  expect(runActions([job()], true, t).map((entry) => entry.id.split(' ')[0])).toEqual(['resume', 'branch', 'compare'])
  expect(runActions([job()], false, t).map((entry) => entry.id.split(' ')[0])).toEqual(['compare'])
})

it('shows a hit in its context', () => {
  expect(matches('Buy-and-hold of IBM', 'ibm HOLD')).toBe(true)
  const text = `${'before '.repeat(30)}the\nMOMENTUM signal${' after'.repeat(30)}`
  expect(excerpt(text, 'momentum signal')).toMatch(/^….*before the MOMENTUM signal after.*…$/)
})

it('opens with its key, searches messages, and opens the selected entry with Enter', async () => {
  const page = { count: 0, next_cursor: null }
  network.use(http.get('/jobs', ({ request }) => HttpResponse.json({ ...page, jobs: new URL(request.url).searchParams.has('search') ? [] : [job()] })))
  respondWith('/experiments', { ...page, experiments: [] })
  respondWith('/plans', { ...page, plans: [] })
  respondWith('/chat/sessions', { ...page, sessions: [] })
  respondWith('/simulate/options', { datasets: [] })
  network.use(
    http.get('/reasoning', ({ request }) => {
      if (new URL(request.url).searchParams.get('q') !== 'average') return HttpResponse.json({ error: 'not_found', message: '' }, { status: 404 })
      return HttpResponse.json({ ...page, sessions: [{ session_id: 3, job_id: 'j', date: '2012-10-01', model: 'm' }] })
    }),
  )
  respondWith('/sessions/3/messages', { ...page, total: 2, messages: [{ message_index: 0, content: 'nothing', node: 'solo#1' }, { message_index: 1, content: 'above its 20-day average', node: 'solo#1' }] })
  await show(<Palette />)
  await userEvent.keyboard('{Control>}k{/Control}')
  const input = await screen.findByRole('combobox')
  await userEvent.type(input, 'trader')
  expect((await screen.findAllByRole('option'))[0]?.textContent).toContain('trader · AAPL, IBM')
  await userEvent.clear(input)
  await userEvent.type(input, 'average')
  const hit = await screen.findByText('above its 20-day average')
  expect(hit.closest('[role="option"]')?.getAttribute('aria-selected')).toBe('true')
  await userEvent.keyboard('{Enter}')
  expect(screen.queryByRole('combobox')).toBeNull()
})

it('finds the message of a hit however late it is in its session', async () => {
  const page = { count: 0, next_cursor: null }
  for (const [path, name] of [['/jobs', 'jobs'], ['/experiments', 'experiments'], ['/plans', 'plans'], ['/chat/sessions', 'sessions']] as const) respondWith(path, { ...page, [name]: [] })
  respondWith('/simulate/options', { datasets: [] })
  respondWith('/reasoning', { ...page, sessions: [{ session_id: 3, job_id: 'j', date: '2012-10-01', model: 'm' }] })
  network.use(
    http.get('/sessions/3/messages', ({ request }) => {
      const at = Number(new URL(request.url).searchParams.get('cursor') ?? 0)
      const content = at === 3 ? 'stopped out after a gap' : 'nothing'
      return HttpResponse.json({ count: 1, total: 9, messages: [{ message_index: at * 1000, content, node: 'solo#1' }], next_cursor: String(at + 1) })
    }),
  )
  await show(<Palette />)
  await userEvent.keyboard('{Control>}k{/Control}')
  await userEvent.type(await screen.findByRole('combobox'), 'gap')
  await screen.findByText('stopped out after a gap')
})

it('names a run by its label, and lists jobs without days with their log', () => {
  const format = makeFormat('en-US')
  const [named, probe] = runEntries([job({ labels: { name: 'Two weeks', note: null, tags: [] } }), job({ job_id: 'job-2', kind: 'memory_probe', simulation: null })], format, t)
  expect(named).toMatchObject({ title: 'Two weeks', to: '/app/runs/job-00000000-12345678' })
  expect(named?.detail).toContain('trader · AAPL, IBM')
  expect(probe).toMatchObject({ title: 'Memory probe', to: '/app/runs/job-2?tab=log' })
})

it('lists what the server finds once, and not more than fits', () => {
  const entries = [...Array(40).keys()].map((index) => ({ id: `${index % 30}`, group: 'runs', title: 'run', isFound: true }) as const)
  const visible = found([...entries], 'words that no title has')
  expect(visible.map((entry) => entry.id)).toEqual([...Array(12).keys()].map(String))
})

describe('what is not loaded', () => {
  const page = { count: 0, next_cursor: null }
  const none = () => HttpResponse.json({ error: 'not_found', message: '' }, { status: 404 })
  const option = (name: RegExp) => screen.findByRole('option', { name })

  /** Opens the palette on a server with these jobs by search, none of which is among the newest. */
  async function open(search: (words: string) => Promise<Job[]> | Job[]): Promise<{ input: HTMLElement; searched: string[]; reads: URLSearchParams[] }> {
    const searched: string[] = []
    const reads: URLSearchParams[] = []
    for (const [path, name] of [['/experiments', 'experiments'], ['/plans', 'plans'], ['/chat/sessions', 'sessions']] as const) respondWith(path, { ...page, [name]: [] })
    respondWith('/simulate/options', { datasets: [] })
    network.use(
      http.get('/jobs', async ({ request }) => {
        const words = new URL(request.url).searchParams.get('search')
        if (words === null) return HttpResponse.json({ ...page, jobs: [] })
        searched.push(words)
        return HttpResponse.json({ ...page, jobs: await search(words) })
      }),
      http.get('/reasoning', ({ request }) => {
        const query = new URL(request.url).searchParams
        if (query.has('q')) return none()
        reads.push(query)
        const sessions = ['house::momentum', 'house::contrarian'].filter((model) => !query.has('model') || query.get('model') === model).map((model) => ({ session_id: 3, job_id: 'job-old-87654321', date: '2012-10-02', model }))
        return sessions.length === 0 || query.get('date') !== '2012-10-02' ? none() : HttpResponse.json({ ...page, sessions })
      }),
    )
    await show(<Palette />)
    await userEvent.keyboard('{Control>}k{/Control}')
    return { input: await screen.findByRole('combobox'), searched, reads }
  }

  it('finds a run of any kind by its label, once typing pauses', async () => {
    const { input, searched } = await open(() => [job({ job_id: 'job-old-1', labels: { name: 'Quarterly', note: null, tags: ['paper'] } }), job({ job_id: 'job-old-2', kind: 'profile', simulation: null })])
    await userEvent.type(input, 'paper')
    expect((await option(/Quarterly/)).getAttribute('aria-selected')).toBe('true')
    await option(/Profile/)
    expect(searched).toEqual(['paper'])
    await userEvent.keyboard('{ArrowDown}')
    expect((await option(/Profile/)).getAttribute('aria-selected')).toBe('true')
    await userEvent.keyboard('{Enter}')
    expect(screen.queryByRole('combobox')).toBeNull()
  })

  it('leaves the previous results until there are others, and does not open them for the new words', async () => {
    let respond: (jobs: Job[]) => void = () => {}
    const { input, searched } = await open((words) => (words === 'paper' ? [job({ labels: { name: 'First', note: null, tags: [] } })] : new Promise((resolve) => (respond = resolve))))
    await userEvent.type(input, 'paper')
    await option(/First/)
    await userEvent.type(input, ' two')
    await waitFor(() => expect(searched).toEqual(['paper', 'paper two']))
    expect(await option(/First/)).toBeTruthy()
    await userEvent.keyboard('{Enter}')
    expect(screen.getByRole('combobox')).toBeTruthy()
    respond([job({ job_id: 'job-2', labels: { name: 'Second', note: null, tags: [] } })])
    await option(/Second/)
    expect(screen.queryByRole('option', { name: /First/ })).toBeNull()
  })

  it('finds a session by day and a part of the agent’s name', async () => {
    const { input, reads } = await open(() => [])
    await userEvent.type(input, '2012-10-02 mom')
    const sessions = within(await screen.findByRole('group', { name: 'Sessions' }))
    expect(sessions.getAllByRole('option').map((entry) => entry.textContent)).toEqual(['Oct 2, 2012 · house::momentum87654321'])
    expect(reads.map((query) => [query.get('date'), query.get('model'), query.get('limit')])).toEqual([['2012-10-02', null, '200']])
  })

  it('requests the sessions of an agent that the found runs name', async () => {
    const of = { agents: [{ name: 'house::momentum', model: 'house::momentum', kind: 'solo', is_llm: false }], symbols: ['IBM'], start_date: '2020-01-01', end_date: '2020-02-01' }
    const { input, searched, reads } = await open(() => [job({ simulation: of })])
    await userEvent.type(input, '2012-10-02 mom')
    await option(/Oct 2, 2012 · house::momentum/)
    expect(searched).toEqual(['mom'])
    expect(reads.map((query) => query.get('model'))).toEqual(['house::momentum'])
    await userEvent.keyboard('{Enter}')
    expect(screen.queryByRole('combobox')).toBeNull()
  })
})
