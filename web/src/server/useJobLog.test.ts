import { QueryClientProvider } from '@tanstack/react-query'
import { act, renderHook, waitFor } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { createElement, type ReactNode } from 'react'
import { expect, it } from 'vitest'
import { entry, ManualClock, logJob, network, sse, streamOf } from '@/test/network'
import type { LogJob } from './actions'
import { makeQueryClient } from './cache'
import { FIRST_PAGE } from './jobLogFollower'
import { useJobLog } from './useJobLog'

interface Server {
  page: (url: URL) => Response
  stream?: (last: string | null) => Response
}

/** Follows job-1 on a fake server, with a manual clock. */
function follow(server: Server, planId?: number) {
  const clock = new ManualClock()
  const requests: URL[] = []
  const base = planId === undefined ? '' : `/plans/${planId}`
  const page = ({ request }: { request: Request }) => {
    const url = new URL(request.url)
    requests.push(url)
    return server.page(url) as never
  }
  network.use(
    http.get('/jobs/job-1/stream', ({ request }) => (server.stream?.(request.headers.get('Last-Event-ID')) ?? streamOf([], true)) as never),
    http.get(`${base}/jobs/job-1`, page),
    http.get(`${base}/jobs/job-1/actions`, page),
  )
  const client = makeQueryClient()
  const wrapper = ({ children }: { children: ReactNode }) => createElement(QueryClientProvider, { client }, children)
  const hook = renderHook(() => useJobLog('job-1', null, planId, { wait: clock.wait }), { wrapper })
  const log = () => hook.result.current
  const next = async (waits: number) => {
    await waitFor(() => expect(clock.delays.length).toBe(waits))
    act(() => clock.advance())
  }
  return { hook, log, clock, requests, next }
}

const page = (status: LogJob['status'], sequences: number[], rest: object = {}) =>
  HttpResponse.json({ job: logJob(status), logs: sequences.map((n) => entry(n)), next_cursor: `c${sequences.at(-1) ?? 0}`, before: null, actions_summary: null, ...rest })
const failing = () => HttpResponse.json({ error: 'internal_error', message: 'the server failed' }, { status: 500 })
const sequences = (logs: { sequence: number }[]) => logs.map((one) => one.sequence)

it('loads the snapshot of an ended job and opens no stream', async () => {
  let streams = 0
  const { log } = follow({
    page: () => page('completed', [1, 2], { actions_summary: [{ order: 1, display: 'plan_operation/create_plan → 成功', success: true }] }),
    stream: () => {
      streams += 1
      return streamOf([])
    },
  })
  expect(log().phase).toBe('loading')
  await waitFor(() => expect(log().phase).toBe('ended'))
  expect(sequences(log().logs)).toEqual([1, 2])
  expect(log().actionsSummary).toHaveLength(1)
  expect(streams).toBe(0)
})

it('appends streamed rows once each and ends with the job', async () => {
  const rows = [1, 2]
  const { log } = follow({
    page: (url) => {
      const cursor = url.searchParams.get('cursor')
      return cursor === null ? page('running', rows) : page('completed', [3, 4].filter((n) => n > Number(cursor.slice(1))))
    },
    stream: () =>
      streamOf([
        sse('snapshot', 7, { job: logJob('running'), log_entry: null, cursor: 7 }),
        sse('log_entry', 8, { job: logJob('running'), log_entry: entry(3), cursor: 8 }),
        sse('log_entry', 9, { job: logJob('running'), log_entry: entry(3, { message: 'again' }), cursor: 9 }),
        sse('log_entry', 10, { job: logJob('running'), log_entry: entry(4), cursor: 10 }),
        sse('end', 11, { job: logJob('completed'), log_entry: null, cursor: 11 }),
      ]),
  })
  await waitFor(() => expect(log().phase).toBe('ended'))
  expect(sequences(log().logs)).toEqual([1, 2, 3, 4])
  expect(log().job?.status).toBe('completed')
})

it('after a break, polls every five seconds from the cursor, then resumes the stream after its last event', async () => {
  const last: (string | null)[] = []
  const { log, clock, requests, next } = follow({
    page: (url) => (url.searchParams.get('cursor') === 'c1' ? page('running', [2]) : page('running', [1])),
    stream: (id) => {
      last.push(id)
      return last.length === 1
        ? streamOf([sse('log_entry', 5, { job: logJob('running'), log_entry: entry(1) })])
        : streamOf([sse('log_entry', 6, { job: logJob('running'), log_entry: entry(3) }), sse('end', 7, { job: logJob('completed') })])
    },
  })
  await waitFor(() => expect(log().phase).toBe('polling'))
  await next(1)
  await waitFor(() => expect(log().phase).toBe('ended'))
  expect(clock.delays).toEqual([5000])
  expect(last).toEqual([null, '5'])
  expect(requests[1]?.searchParams.get('cursor')).toBe('c1')
  expect(sequences(log().logs)).toEqual([1, 2, 3])
})

it('gives up after five failures in a row and resumes on retry', async () => {
  let broken = false
  const { log, clock, next } = follow({ page: () => (broken ? failing() : page('running', [1])) })
  await waitFor(() => expect(log().phase).toBe('polling'))
  broken = true
  for (let waits = 1; waits <= 5; waits += 1) await next(waits)
  await waitFor(() => expect(log().phase).toBe('lost'))
  expect(log().failures).toBe(5)
  expect(clock.delays).toEqual([5000, 5000, 5000, 5000, 5000])
  expect(sequences(log().logs)).toEqual([1])
  broken = false
  act(() => log().retry())
  await waitFor(() => expect(log().phase).toBe('polling'))
  expect(log().failures).toBe(0)
})

it('resumes by itself after it gave up, from its cursor, when the server is back', async () => {
  let isDown = false
  let reported = 0
  network.use(
    http.get('/health', () => {
      if (isDown) reported += 1
      return HttpResponse.json({ status: isDown ? 'failing' : 'ok', version: '0', problems: [], warnings: [] }, { status: isDown ? 503 : 200 })
    }),
  )
  const { log, requests, next } = follow({ page: (url) => (isDown ? failing() : page('running', url.searchParams.get('cursor') === null ? [1] : [2])) })
  await waitFor(() => expect(log().phase).toBe('polling'))
  isDown = true
  for (let waits = 1; waits <= 5; waits += 1) await next(waits)
  await waitFor(() => expect(log().phase).toBe('lost'))
  const before = requests.length
  await waitFor(() => expect(reported).toBeGreaterThan(0))
  isDown = false
  await waitFor(() => expect(sequences(log().logs)).toEqual([1, 2]))
  expect(requests[before]?.searchParams.get('cursor')).toBe('c1')
  expect(log().failures).toBe(0)
})

it('resets the failure count after a success', async () => {
  let calls = 0
  const { log, next } = follow({
    page: () => {
      calls += 1
      // The first page, four failures, a success, and failures from then on.
      return calls === 1 || calls === 6 ? page('running', [1]) : failing()
    },
  })
  await waitFor(() => expect(log().phase).toBe('polling'))
  for (let waits = 1; waits <= 5; waits += 1) await next(waits)
  await waitFor(() => expect(log().failures).toBe(0))
  for (let waits = 6; waits <= 9; waits += 1) await next(waits)
  await waitFor(() => expect(log().failures).toBe(4))
  expect(log().phase).toBe('polling')
  await next(10)
  await waitFor(() => expect(log().phase).toBe('lost'))
})

it('reports a missing job and sends no more requests', async () => {
  const { log, clock, requests } = follow({ page: () => HttpResponse.json({ error: 'not_found' }, { status: 404 }) })
  await waitFor(() => expect(log().phase).toBe('missing'))
  expect(clock.delays).toEqual([])
  expect(requests).toHaveLength(1)
})

it('loads older rows without gaps or duplicates', async () => {
  const { log, requests } = follow({
    page: (url) => {
      const before = url.searchParams.get('before')
      if (before === 'b401') return page('completed', range(201, 400), { before: 'b201' })
      if (before === 'b201') return page('completed', range(1, 200), { before: null })
      return page('completed', range(401, 600), { before: 'b401' })
    },
  })
  await waitFor(() => expect(log().phase).toBe('ended'))
  expect(log().logs).toHaveLength(200)
  expect(log().hasOlder).toBe(true)
  act(() => log().loadOlder())
  await waitFor(() => expect(log().logs).toHaveLength(400))
  act(() => log().loadOlder())
  await waitFor(() => expect(log().hasOlder).toBe(false))
  expect(sequences(log().logs)).toEqual(range(1, 600))
  expect(requests.map((url) => url.searchParams.get('limit'))).toEqual(requests.map(() => String(FIRST_PAGE)))
})

it('uses the plan’s routes for a job of a plan', async () => {
  const { log, requests } = follow(
    { page: (url) => (url.pathname.endsWith('/actions') ? HttpResponse.json({ logs: [entry(1)], next_cursor: 'c1', before: null }) : page('completed', [2], { before: 'b2' })) },
    7,
  )
  await waitFor(() => expect(log().phase).toBe('ended'))
  act(() => log().loadOlder())
  await waitFor(() => expect(sequences(log().logs)).toEqual([1, 2]))
  expect(requests.map((url) => url.pathname)).toEqual(['/plans/7/jobs/job-1', '/plans/7/jobs/job-1/actions'])
  expect(log().job?.status).toBe('completed')
})

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
