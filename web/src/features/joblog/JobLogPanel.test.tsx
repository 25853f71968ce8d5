import { act, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { useState } from 'react'
import { describe, expect, it, vi } from 'vitest'
import { entry, HandClock, logJob, network, streamOf, sse } from '@/test/network'
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

describe('says what kind of job it is and how it ended', () => {
  const kinds = [
    ['simulate', 'Simulation'],
    ['plan_decompose', 'Decomposition'],
    ['plan_execute', 'Plan execution'],
    ['chat_action', 'Chat actions'],
    ['profile', 'Profile'],
  ] as const
  const ends = ['completed', 'failed', 'partial', 'cancelled'] as const
  it.each(kinds.flatMap(([kind, name]) => ends.map((status) => [kind, status, name] as const)))('%s %s', async (kind, status, name) => {
    const error = status === 'failed' ? 'the model could not be reached' : null
    serve(() => page(logJob(status, { kind, error, completed_at: '2026-11-22T05:01:00Z' }), [entry(1, { status: status === 'failed' ? 'failed' : 'completed', success: status !== 'failed' })]))
    await show(<JobLogPanel jobId="job-1" expectType={kind} />)
    const panel = await screen.findByRole('region', { name: 'Log' })
    await within(panel).findByText('ended, read-only')
    expect(within(panel).getByRole('heading', { name })).toBeTruthy()
    expect(within(panel).getAllByText(status).length).toBeGreaterThan(0)
    expect(within(panel).getByText(/^started .* · ended /)).toBeTruthy()
    expect(within(panel).getByText('plan_operation/create_plan')).toBeTruthy()
    expect(within(panel).queryByText(/expected:/)).toBeNull()
    if (error) expect(within(panel).getByText(error)).toBeTruthy()
  })
})

it('says so where the job is of another kind than expected', async () => {
  serve(() => page(logJob('completed', { kind: 'simulate' })))
  await show(<JobLogPanel jobId="job-1" expectType="plan_execute" />)
  expect(await screen.findByText('expected: Plan execution')).toBeTruthy()
  expect(screen.getByText('Nothing has been logged.')).toBeTruthy()
})

it('shows what is known of the job before the server has answered', async () => {
  let answer: (response: Response) => void = () => {}
  network.use(http.get('/jobs/job-1', () => new Promise<never>((resolve) => (answer = resolve as never))))
  await show(<JobLogPanel jobId="job-1" initialJob={logJob('running')} />)
  expect(await screen.findByText('running')).toBeTruthy()
  await act(async () => answer(page(logJob('completed')) as never))
  expect(await screen.findByText('completed')).toBeTruthy()
})

it('is live while the job runs, and adds rows as they come', async () => {
  serve(
    () => page(logJob('running'), [entry(1)]),
    () => new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(sse('log_entry', 3, { job: logJob('running'), log_entry: entry(2, { message: 'just now' }) }))) }), { headers: { 'Content-Type': 'text/event-stream' } }),
  )
  await show(<JobLogPanel jobId="job-1" />)
  expect(await screen.findByText('just now')).toBeTruthy()
  expect(screen.getByText('live')).toBeTruthy()
  expect(screen.getByText('row 1')).toBeTruthy()
})

it('says that the line is broken, then that it is lost, and can be told to try again', async () => {
  let fails = false
  const clock = new HandClock()
  serve(() => (fails ? HttpResponse.json({ error: 'internal_error', message: 'the server failed' }, { status: 500 }) : page(logJob('running'), [entry(1)])))
  await show(<JobLogPanel jobId="job-1" sources={{ wait: clock.wait }} />)
  expect(await screen.findByText(/The live line broke\. The log is asked for every five seconds/)).toBeTruthy()
  fails = true
  for (let waits = 1; waits <= 5; waits += 1) {
    await waitFor(() => expect(clock.asked.length).toBe(waits))
    act(() => clock.go())
  }
  expect(await screen.findByText('The log cannot be followed any more')).toBeTruthy()
  expect(screen.getByText('row 1')).toBeTruthy()
  fails = false
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
  await waitFor(() => expect(screen.queryByText('The log cannot be followed any more')).toBeNull())
})

it('says that there is no such job', async () => {
  serve(() => HttpResponse.json({ error: 'not_found' }, { status: 404 }))
  await show(<JobLogPanel jobId="job-1" />)
  expect(await screen.findByText('There is no such job')).toBeTruthy()
  expect(screen.getByText(/Job job-1 is not in this record/)).toBeTruthy()
})

it('keeps thousands of rows out of the page, and loads older ones when asked', async () => {
  const rows = Array.from({ length: 200 }, (_, index) => entry(9801 + index))
  const older = Array.from({ length: 200 }, (_, index) => entry(9601 + index))
  network.use(http.get('/jobs/job-1', ({ request }) => (new URL(request.url).searchParams.get('before') === 'b1' ? page(logJob('completed'), older) : page(logJob('completed'), rows, { before: 'b1' })) as never))
  await show(<JobLogPanel jobId="job-1" />)
  expect(await screen.findByText('200 shown')).toBeTruthy()
  expect(screen.getAllByText(/^row \d+$/).length).toBeLessThan(80)
  await userEvent.click(screen.getByRole('button', { name: 'Load more' }))
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Load more' })).toBeNull())
  expect(screen.getByText('row 9601')).toBeTruthy()
})

it('says nothing of a log that the server has not shown yet', async () => {
  serve(() => HttpResponse.json({ error: 'internal_error', message: 'the server failed' }, { status: 500 }))
  const clock = new HandClock()
  await show(<JobLogPanel jobId="job-1" sources={{ wait: clock.wait }} />)
  expect(await screen.findByText(/The live line broke, and 1 try in a row failed/)).toBeTruthy()
  expect(screen.queryByText('Nothing has been logged.')).toBeNull()
})

it('saves the whole log, not what is loaded of it', async () => {
  const saved: Blob[] = []
  URL.createObjectURL = vi.fn((blob: Blob) => (saved.push(blob), 'blob:it'))
  URL.revokeObjectURL = vi.fn()
  const asked: (string | null)[] = []
  network.use(
    http.get('/jobs/job-1', ({ request }) => {
      const before = new URL(request.url).searchParams.get('before')
      asked.push(before)
      return page(logJob('completed'), [entry(before === null ? 3 : before === 'b3' ? 2 : 1)], { before: before === null ? 'b3' : before === 'b3' ? 'b2' : null }) as never
    }),
  )
  await show(<JobLogPanel jobId="job-1" />)
  await screen.findByText('1 shown')
  await userEvent.click(screen.getByRole('button', { name: 'JSON' }))
  await waitFor(() => expect(saved).toHaveLength(1))
  expect(asked).toEqual([null, 'b3', 'b2'])
  await waitFor(() => expect(screen.getByText('row 1')).toBeTruthy())
})

it('goes on with a job that runs again', async () => {
  let status: 'cancelled' | 'running' = 'cancelled'
  const rows = [entry(1)]
  serve(
    () => page(logJob(status), rows, { next_cursor: 'c1' }),
    () => new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(sse('log_entry', 9, { job: logJob('running'), log_entry: entry(3, { message: 'again' }) }))) }), { headers: { 'Content-Type': 'text/event-stream' } }),
  )
  let runAgain: () => void = () => {}
  function Shown() {
    const [now, setNow] = useState(logJob('cancelled'))
    runAgain = () => setNow(logJob('running'))
    return <JobLogPanel jobId="job-1" initialJob={now} />
  }
  await show(<Shown />)
  await screen.findByText('ended, read-only')
  status = 'running'
  act(() => runAgain())
  expect(await screen.findByText('again')).toBeTruthy()
  expect(screen.getByText('row 1')).toBeTruthy()
  expect(screen.getByText('live')).toBeTruthy()
})

it('shows what a row has by the way, as text', async () => {
  serve(() => page(logJob('completed'), [entry(1, { message: '<img src=x onerror=alert(1)>', details: { query: '<b>IBM</b>' } })]))
  await show(<JobLogPanel jobId="job-1" />)
  expect(await screen.findByText('<img src=x onerror=alert(1)>')).toBeTruthy()
  await userEvent.click(screen.getByRole('button', { name: 'Details' }))
  expect(screen.getByText('<b>IBM</b>')).toBeTruthy()
  expect(document.querySelector('img')).toBeNull()
})

it('is saved as JSON or as text', async () => {
  const saved: Blob[] = []
  URL.createObjectURL = vi.fn((blob: Blob) => (saved.push(blob), 'blob:it'))
  URL.revokeObjectURL = vi.fn()
  serve(() => page(logJob('completed'), [entry(1, { message: 'two\nlines' }), entry(2, { status: 'failed', success: false, message: null })]))
  await show(<JobLogPanel jobId="job-1" />)
  await screen.findByText('ended, read-only')
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
