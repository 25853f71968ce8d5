import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import type { Job } from '@/server/types'
import { makeFormat } from '@/shared/format'
import { translate } from '@/shared/i18n'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { dayOf, excerpt, matches, runActions, sessionEntries } from './entries'
import { Palette } from './Palette'

const t = (key: Parameters<typeof translate>[1], values?: Parameters<typeof translate>[2]) => translate('en', key, values)
const job = (part: object = {}): Job =>
  ({ job_id: 'job-00000000-12345678', status: 'partial', created_at: '2026-11-22T05:00:00Z', simulation: { agents: [{ name: 'trader', model: 'house::momentum', kind: 'solo', is_llm: false }], symbols: ['AAPL', 'IBM'], start_date: '2012-10-01', end_date: '2012-10-12' }, ...part }) as unknown as Job

it('finds a session by day and agent', () => {
  expect(dayOf('trader 2012-10-02')).toBe('2012-10-02')
  expect(dayOf('20121002')).toBe('2012-10-02')
  expect(dayOf('2012年10月2日')).toBe('2012-10-02')
  expect(dayOf('2012-13-40')).toBeNull()
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
  respondWith('/jobs', { ...page, jobs: [job()] })
  respondWith('/experiments', { ...page, experiments: [] })
  respondWith('/plans', { ...page, plans: [] })
  respondWith('/chat/sessions', { ...page, sessions: [] })
  respondWith('/simulate/options', { datasets: [] })
  network.use(
    http.get('/reasoning', ({ request }) => {
      expect(new URL(request.url).searchParams.get('q')).toBe('average')
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
