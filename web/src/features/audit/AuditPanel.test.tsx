import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { beforeEach, expect, it } from 'vitest'
import { translate } from '@/shared/i18n'
import { runJob } from '@/test/job'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { AuditPanel } from './AuditPanel'

const session = (date: string, part: object) => ({ date, model: 'm', findings: [], steps: 14, reads: 9, rows: 183, verdict: 'verified', ...part })
const page = (sessions: object[], summary: object, next_cursor: string | null) => ({ job_id: 'j', rules_version: 4, dataset: 'd', sessions, count: sessions.length, total: 3, next_cursor, summary: { verified: 0, failed: 0, unverifiable: 0, unfinished: 0, ...summary } })

beforeEach(() => {
  network.use(
    http.get('/jobs/j', () => HttpResponse.json({ job: runJob('j') })),
    http.get('/datasets/00ff', () => HttpResponse.json({ name: 'us', zone: 'America/New_York' })),
  )
})

it('audits on request, page by page, and adds up the verdicts', async () => {
  const requests: (string | null)[] = []
  network.use(
    http.get('/jobs/j/audit', ({ request }) => {
      const cursor = new URL(request.url).searchParams.get('cursor')
      requests.push(cursor)
      if (cursor === 'more') return HttpResponse.json(page([session('2012-10-03', { verdict: 'unverifiable', reason: { kind: 'dataset', message: 'the data are not available' } })], { unverifiable: 1 }, null))
      const finding = { kind: 'look_ahead', message: 'step solo#1/read#1 differs', path: 'solo#1/read#1', items: [], variants: ['cut'], recorded: '1', recomputed: 'nothing' }
      return HttpResponse.json(page([session('2012-10-01', {}), session('2012-10-02', { verdict: 'failed', findings: [finding] })], { verified: 1, failed: 1 }, 'more'))
    }),
  )
  await show(<AuditPanel jobId="j" />)
  expect(requests).toEqual([])
  await userEvent.click(screen.getByRole('button', { name: 'Run audit' }))
  expect(await screen.findByText('2 of 3 sessions audited')).toBeTruthy()
  expect(screen.getByText('Look-ahead')).toBeTruthy()
  expect(screen.getByText('step solo#1/read#1 differs')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Audit next sessions' }))
  expect(await screen.findByText('3 of 3 sessions audited')).toBeTruthy()
  expect(screen.getByText('the data are not available')).toBeTruthy()
  expect(screen.getByRole('status').textContent).toBe('3 of 3 sessions audited1 verified1 failed1 unverifiable')
  await userEvent.click(screen.getByRole('checkbox'))
  expect(screen.queryByText(/Oct 1, 2012/)).toBeNull()
  expect(requests).toEqual([null, 'more'])
})

it('does not call an audit clean if nothing was verified', async () => {
  respondWith('/jobs/j/audit', { ...page([session('2012-10-01', { verdict: 'unverifiable', reason: { kind: 'point_in_time', message: 'imported' } })], { unverifiable: 1 }, null), total: 1 })
  await show(<AuditPanel jobId="j" />)
  await userEvent.click(screen.getByRole('button', { name: 'Run audit' }))
  expect(await screen.findByText('No session was verified, so look-ahead is not ruled out.')).toBeTruthy()
})

it('shows the newest data with the exchange’s time, and heads a reason as one', async () => {
  const newest = { series: 'IBM/bars', known_at: '2012-09-28T20:00:00Z' }
  respondWith('/jobs/j/audit', { ...page([session('2012-10-01', { newest_at_open: newest })], { verified: 1 }, null), total: 1 })
  await show(<AuditPanel jobId="j" />)
  await userEvent.click(screen.getByRole('button', { name: 'Run audit' }))
  const time = await screen.findByText('Sep 28, 2012, 16:00 ET')
  expect(time.title).toBe('Newest at the open: IBM/bars, known Sep 28, 2012, 16:00 ET')
  expect(screen.getByRole('columnheader', { name: 'Reason' })).toBeTruthy()
  expect(translate('zh', 'word.reason')).not.toBe(translate('zh', 'orders.reason'))
})
