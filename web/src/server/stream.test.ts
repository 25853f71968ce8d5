import { http, HttpResponse } from 'msw'
import { afterEach, expect, it, vi } from 'vitest'
import { network, sse, streamOf } from '@/test/network'
import type { ApiError } from './client'
import { type JobEvent, readStream, StreamBroken } from './stream'

const job = { job_id: 'job-1', kind: 'simulate', status: 'running', error: null }

async function read(reply: () => Response | Promise<Response>, after?: number) {
  const events: JobEvent[] = []
  const lastEventIds: (string | null)[] = []
  network.use(
    http.get('/jobs/job-1/stream', ({ request }) => {
      lastEventIds.push(request.headers.get('Last-Event-ID'))
      return reply() as never
    }),
  )
  const stop = new AbortController()
  const done = readStream('job-1', { signal: stop.signal, after: after ?? null, onEvent: (event) => events.push(event) })
  return { events, lastEventIds, done }
}

it('reads events to the end, however the chunks are split', async () => {
  const whole = sse('snapshot', 4, { job, log_entry: null, cursor: 4, event: null }) + sse('message', 5, { job, event: { n: '早' } }) + ': still here\n\n' + sse('end', 6, { job: { ...job, status: 'completed' } })
  const { events, done } = await read(() => streamOf([whole.slice(0, 31), whole.slice(31, 170), whole.slice(170)]))
  await done
  expect(events.map((event) => [event.name, event.id])).toEqual([
    ['snapshot', 4],
    ['message', 5],
    ['end', 6],
  ])
  expect(events[1]?.event).toEqual({ n: '早' })
  expect(events[2]?.job?.status).toBe('completed')
})

it('distinguishes a break from an end and resumes after the last event', async () => {
  const { lastEventIds, done } = await read(() => streamOf([sse('order', 9, { job })]), 8)
  await expect(done).rejects.toBeInstanceOf(StreamBroken)
  expect(lastEventIds).toEqual(['8'])
})

it('ends at 204 and passes errors on', async () => {
  const ended = await read(() => new HttpResponse(null, { status: 204 }))
  await ended.done
  const rejected = await read(() => HttpResponse.json({ error: 'not_found', message: 'unknown job' }, { status: 404 }))
  await expect(rejected.done).rejects.toMatchObject({ status: 404, code: 'not_found' } satisfies Partial<ApiError>)
})

it('reports events that may be lost without an id', async () => {
  const { events, done } = await read(() => streamOf([sse('delta', null, { text: 'Hel' }), sse('end', 3, { job })]))
  await done
  expect(events[0]).toMatchObject({ name: 'delta', id: null, event: { text: 'Hel' } })
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Enough time for a busy machine. */
const WAIT = { timeout: 20_000 }

/** A connection that sends one event, then nothing, and is never closed. */
const silent = () =>
  new HttpResponse(
    new ReadableStream({
      start: (control) => control.enqueue(new TextEncoder().encode(sse('order', 9, { job }))),
    }),
    { headers: { 'Content-Type': 'text/event-stream' } },
  )

it('gives up a connection that is silent for longer than the keep-alive interval', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { events, done } = await read(silent)
  const outcome = done.then(
    () => 'ended',
    (error: unknown) => (error instanceof StreamBroken ? 'broken' : error),
  )
  await vi.waitUntil(async () => {
    await vi.advanceTimersByTimeAsync(1)
    return events.length === 1
  }, WAIT)
  await vi.advanceTimersByTimeAsync(41_000)
  expect(await outcome).toBe('broken')
})

it('closes the connection while the page is hidden and reconnects when it is visible', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(false)
  const setHidden = (is: boolean) => {
    hidden.mockReturnValue(is)
    document.dispatchEvent(new Event('visibilitychange'))
  }
  const first = await read(silent)
  const outcome = expect(first.done).rejects.toBeInstanceOf(StreamBroken)
  await vi.waitUntil(async () => {
    await vi.advanceTimersByTimeAsync(1)
    return first.events.length === 1
  }, WAIT)
  setHidden(true)
  await vi.advanceTimersByTimeAsync(11_000)
  await outcome
  const second = await read(() => streamOf([sse('end', 10, { job })]), 9)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(second.lastEventIds).toEqual([])
  setHidden(false)
  await second.done
  expect(second.lastEventIds).toEqual(['9'])
})
