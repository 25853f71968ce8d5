import { act, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { useState } from 'react'
import { describe, expect, it, vi } from 'vitest'
import { entry, ManualClock, logJob, network, streamOf, sse } from '@/test/network'
import { show } from '@/test/render'
import { asJson, asText } from './export'
import { JobLogPanel } from './JobLogPanel'

const page = (job: object, logs: object[] = [], rest: object = {}) => HttpResponse.json({ job, logs, next_cursor: null, before: null, actions_summary: null, ...rest })

function serve(reply: () => Response, stream: () => Response = () => streamOf([], true)) {
  network.use(
    http.get('/jobs/job-1', () => reply() as never),
    http.get('/jobs/job-1/stream', () => stream() as never),
  )
}

describe('shows the kind of job and how it ended', () => {
  const kinds = [
    ['simulate', 'Simulation'],
    ['plan_decompose', 'Plan decomposition'],
    ['plan_execute', 'Plan execution'],
    ['chat_action', 'Chat actions'],
    ['profile', 'Profile'],
  ] as const
  const ends = [
    ['completed', 'Completed'],
    ['failed', 'Failed'],
    ['partial', 'Partial'],
    ['cancelled', 'Cancelled'],
  ] as const
  it.each(kinds.flatMap(([kind, name]) => ends.map(([status, label]) => [kind, status, name, label] as const)))('%s %s', async (kind, status, name, label) => {
    const error = status === 'failed' ? 'the model could not be reached' : null
    serve(() => page(logJob(status, { kind, error, completed_at: '2026-11-22T05:01:00Z' }), [entry(1, { status: status === 'failed' ? 'failed' : 'completed', success: status !== 'failed' })]))
    await show(<JobLogPanel jobId="job-1" expectType={kind} />)
    const panel = await screen.findByRole('region', { name: 'Log' })
    await within(panel).findByText('Ended, read-only')
    expect(within(panel).getByRole('heading', { name })).toBeTruthy()
    expect(within(panel).getAllByText(label).length).toBeGreaterThan(0)
    expect(within(panel).getByText(/^Started .* · Ended /)).toBeTruthy()
    expect(within(panel).getByText('plan_operation/create_plan')).toBeTruthy()
    expect(within(panel).queryByText(/Expected:/)).toBeNull()
    if (error) expect(within(panel).getByText(error)).toBeTruthy()
  })
})

it('labels a job of an unexpected kind', async () => {
  serve(() => page(logJob('completed', { kind: 'simulate' })))
  await show(<JobLogPanel jobId="job-1" expectType="plan_execute" />)
  expect(await screen.findByText('Expected: Plan execution')).toBeTruthy()
  expect(screen.getByText('No log entries.')).toBeTruthy()
})

it('shows the initial job before the server responds', async () => {
  let respond: (response: Response) => void = () => {}
  network.use(http.get('/jobs/job-1', () => new Promise<never>((resolve) => (respond = resolve as never))))
  await show(<JobLogPanel jobId="job-1" initialJob={logJob('running')} />)
  expect(await screen.findByText('Running')).toBeTruthy()
  await act(async () => respond(page(logJob('completed')) as never))
  expect(await screen.findByText('Completed')).toBeTruthy()
})

it('is live while the job runs and appends rows', async () => {
  serve(
    () => page(logJob('running'), [entry(1)]),
    () => new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(sse('log_entry', 3, { job: logJob('running'), log_entry: entry(2, { message: 'just now' }) }))) }), { headers: { 'Content-Type': 'text/event-stream' } }),
  )
  await show(<JobLogPanel jobId="job-1" />)
  expect(await screen.findByText('just now')).toBeTruthy()
  expect(screen.getByText('Live')).toBeTruthy()
  expect(screen.getByText('row 1')).toBeTruthy()
})

it('reports a broken connection, then stopped updates, and retries on request', async () => {
  let fails = false
  const clock = new ManualClock()
  serve(() => (fails ? HttpResponse.json({ error: 'internal_error', message: 'the server failed' }, { status: 500 }) : page(logJob('running'), [entry(1)])))
  await show(<JobLogPanel jobId="job-1" sources={{ wait: clock.wait }} />)
  expect(await screen.findByText(/Live updates disconnected\. Polling every 5 seconds/)).toBeTruthy()
  fails = true
  for (let waits = 1; waits <= 5; waits += 1) {
    await waitFor(() => expect(clock.delays.length).toBe(waits))
    act(() => clock.advance())
  }
  expect(await screen.findByText('Log updates stopped')).toBeTruthy()
  expect(screen.getByText('row 1')).toBeTruthy()
  fails = false
  await userEvent.click(screen.getByRole('button', { name: 'Retry' }))
  await waitFor(() => expect(screen.queryByText('Log updates stopped')).toBeNull())
})

it('reports a missing job', async () => {
  serve(() => HttpResponse.json({ error: 'not_found' }, { status: 404 }))
  await show(<JobLogPanel jobId="job-1" />)
  expect(await screen.findByText('Job not found')).toBeTruthy()
  expect(screen.getByText(/There is no job job-1/)).toBeTruthy()
})

it('renders only visible rows and loads older ones on request', async () => {
  const rows = Array.from({ length: 200 }, (_, index) => entry(9801 + index))
  const older = Array.from({ length: 200 }, (_, index) => entry(9601 + index))
  network.use(http.get('/jobs/job-1', ({ request }) => (new URL(request.url).searchParams.get('before') === 'b1' ? page(logJob('completed'), older) : page(logJob('completed'), rows, { before: 'b1' })) as never))
  await show(<JobLogPanel jobId="job-1" />)
  expect(await screen.findByText('200 loaded')).toBeTruthy()
  expect(screen.getAllByText(/^row \d+$/).length).toBeLessThan(80)
  await userEvent.click(screen.getByRole('button', { name: 'Load older' }))
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Load older' })).toBeNull())
  expect(screen.getByText('row 9601')).toBeTruthy()
})

it('does not show an empty log before the first response', async () => {
  serve(() => HttpResponse.json({ error: 'internal_error', message: 'the server failed' }, { status: 500 }))
  const clock = new ManualClock()
  await show(<JobLogPanel jobId="job-1" sources={{ wait: clock.wait }} />)
  expect(await screen.findByText(/Live updates disconnected\. 1 failed attempt in a row/)).toBeTruthy()
  expect(screen.queryByText('No log entries.')).toBeNull()
})

it('exports the complete log, not only the loaded rows', async () => {
  const saved: Blob[] = []
  URL.createObjectURL = vi.fn((blob: Blob) => (saved.push(blob), 'blob:it'))
  URL.revokeObjectURL = vi.fn()
  const cursors: (string | null)[] = []
  network.use(
    http.get('/jobs/job-1', ({ request }) => {
      const before = new URL(request.url).searchParams.get('before')
      cursors.push(before)
      return page(logJob('completed'), [entry(before === null ? 3 : before === 'b3' ? 2 : 1)], { before: before === null ? 'b3' : before === 'b3' ? 'b2' : null }) as never
    }),
  )
  await show(<JobLogPanel jobId="job-1" />)
  await screen.findByText('1 loaded')
  await userEvent.click(screen.getByRole('button', { name: 'JSON' }))
  await waitFor(() => expect(saved).toHaveLength(1))
  expect(cursors).toEqual([null, 'b3', 'b2'])
  await waitFor(() => expect(screen.getByText('row 1')).toBeTruthy())
})

it('continues when the job runs again', async () => {
  let status: 'cancelled' | 'running' = 'cancelled'
  const rows = [entry(1)]
  serve(
    () => page(logJob(status), rows, { next_cursor: 'c1' }),
    () => new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(sse('log_entry', 9, { job: logJob('running'), log_entry: entry(3, { message: 'again' }) }))) }), { headers: { 'Content-Type': 'text/event-stream' } }),
  )
  let runAgain: () => void = () => {}
  function Wrapper() {
    const [now, setNow] = useState(logJob('cancelled'))
    runAgain = () => setNow(logJob('running'))
    return <JobLogPanel jobId="job-1" initialJob={now} />
  }
  await show(<Wrapper />)
  await screen.findByText('Ended, read-only')
  status = 'running'
  act(() => runAgain())
  expect(await screen.findByText('again')).toBeTruthy()
  expect(screen.getByText('row 1')).toBeTruthy()
  expect(screen.getByText('Live')).toBeTruthy()
})

it('shows details as text', async () => {
  serve(() => page(logJob('completed'), [entry(1, { message: '<img src=x onerror=alert(1)>', details: { query: '<b>IBM</b>' } })]))
  await show(<JobLogPanel jobId="job-1" />)
  expect(await screen.findByText('<img src=x onerror=alert(1)>')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Details' }))
  expect(screen.getByText('<b>IBM</b>')).toBeTruthy()
  expect(document.querySelector('img')).toBeNull()
})

it('exports JSON and text', async () => {
  const saved: Blob[] = []
  URL.createObjectURL = vi.fn((blob: Blob) => (saved.push(blob), 'blob:it'))
  URL.revokeObjectURL = vi.fn()
  serve(() => page(logJob('completed'), [entry(1, { message: 'two\nlines' }), entry(2, { status: 'failed', success: false, message: null })]))
  await show(<JobLogPanel jobId="job-1" />)
  await screen.findByText('Ended, read-only')
  await userEvent.click(screen.getByRole('button', { name: 'JSON' }))
  await userEvent.click(screen.getByRole('button', { name: 'Text' }))
  expect(saved.map((blob) => blob.type)).toEqual(['application/json;charset=utf-8', 'text/plain;charset=utf-8'])
  const logs = [entry(1, { message: 'two\nlines' }), entry(2, { status: 'failed', success: false, message: null })]
  expect(JSON.parse(asJson(logJob('completed'), logs))).toEqual({ job: logJob('completed'), logs })
  expect(asText(logJob('completed'), logs)).toBe(
    'job job-1  chat_action completed  2026-11-22T05:00:01Z\n' +
      '   1  2026-11-22T05:00:00Z  completed  plan_operation/create_plan  two lines\n' +
      '   2  2026-11-22T05:00:00Z  failed     plan_operation/create_plan\n',
  )
})
