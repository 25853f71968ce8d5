// Goal: a page is called live only while its data are as new as the stream, and it catches up after a break.
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, expect, it, vi } from 'vitest'
import { ApiError } from './client'
import { type Connection, followJob } from './live'
import { type JobEvent, StreamBroken, type StreamOptions } from './stream'

const event = (id: number, name = 'progress') => ({ id, name, job: null, logEntry: null, event: null }) as JobEvent

/** Follows a job whose stream and whose only query are controlled by the test. */
function follow() {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: Infinity } } })
  /** What the server has, and what the next requests do. */
  const server = { value: 0, answer: async () => server.value }
  let requests = 0
  const observer = new QueryObserver(client, { queryKey: ['job', 'j'], queryFn: () => ((requests += 1), server.answer()) })
  const unsubscribe = observer.subscribe(() => {})
  const stop = new AbortController()
  const states: Connection[] = []
  const streams: (StreamOptions & { end: () => void; fail: (error: Error) => void })[] = []
  const waits: number[] = []
  const done = followJob({
    client,
    key: () => ['job', 'j'],
    signal: stop.signal,
    reconnect: () => new AbortController().signal,
    onState: (state) => states.push(state),
    stream: (options) =>
      new Promise<void>((end, fail) => {
        streams.push({ ...options, end, fail })
      }),
    wait: async (ms) => void waits.push(ms),
  })
  const shown = () => client.getQueryData(['job', 'j'])
  afterEach(() => {
    stop.abort()
    unsubscribe()
    client.clear()
  })
  return { client, server, states, streams, waits, done, shown, requests: () => requests }
}

it('is live only after it has fetched what happened before the stream opened', async () => {
  const page = follow()
  await vi.waitFor(() => expect(page.shown()).toBe(0))
  page.server.value = 1
  page.streams[0]?.onOpen?.()
  expect(page.states).toEqual(['connecting', 'updating'])
  await vi.waitFor(() => expect(page.states.at(-1)).toBe('live'))
  expect(page.shown()).toBe(1)
})

it('is up to date at once after a reconnect, also if a request from before the break hangs', async () => {
  const page = follow()
  page.streams[0]?.onOpen?.()
  await vi.waitFor(() => expect(page.states.at(-1)).toBe('live'))
  // The next request never returns: its connection is dead.
  page.server.answer = () => new Promise(() => {})
  page.streams[0]?.onEvent(event(7))
  await vi.waitFor(() => expect(page.client.isFetching()).toBe(1))
  page.streams[0]?.fail(new StreamBroken())
  await vi.waitFor(() => expect(page.streams).toHaveLength(2))
  expect(page.states.at(-1)).toBe('broken')
  expect(page.waits).toEqual([1000])
  expect(page.streams[1]?.after).toBe(7)
  page.server.value = 9
  page.server.answer = async () => page.server.value
  page.streams[1]?.onOpen?.()
  await vi.waitFor(() => expect(page.states.at(-1)).toBe('live'), { timeout: 2000 })
  expect(page.shown()).toBe(9)
})

it('is not live while the server does not answer its requests', async () => {
  const page = follow()
  await vi.waitFor(() => expect(page.shown()).toBe(0))
  page.server.answer = () => Promise.reject(new ApiError(500, 'internal_error', 'the server failed'))
  page.streams[0]?.onOpen?.()
  await vi.waitFor(() => expect(page.client.getQueryState(['job', 'j'])?.status).toBe('error'))
  expect(page.states).toEqual(['connecting', 'updating', 'updating'])
  page.server.answer = async () => 4
  // It tries again without an event.
  await vi.waitFor(() => expect(page.states.at(-1)).toBe('live'), { timeout: 5000 })
  expect(page.shown()).toBe(4)
})

it('is not live while a refresh takes long', async () => {
  const page = follow()
  page.streams[0]?.onOpen?.()
  await vi.waitFor(() => expect(page.states.at(-1)).toBe('live'))
  let respond: (value: number) => void = () => {}
  page.server.answer = () => new Promise((resolve) => (respond = resolve))
  page.streams[0]?.onEvent(event(1))
  await vi.waitFor(() => expect(page.states.at(-1)).toBe('updating'), { timeout: 5000 })
  respond(3)
  await vi.waitFor(() => expect(page.states.at(-1)).toBe('live'))
  expect(page.shown()).toBe(3)
})

it('fetches the final state when the stream ends, whatever was requested before', async () => {
  const page = follow()
  page.streams[0]?.onOpen?.()
  await vi.waitFor(() => expect(page.states.at(-1)).toBe('live'))
  page.server.answer = () => new Promise(() => {})
  page.streams[0]?.onEvent(event(1))
  await vi.waitFor(() => expect(page.client.isFetching()).toBe(1))
  page.server.answer = async () => 100
  page.streams[0]?.onEvent(event(2, 'end'))
  page.streams[0]?.end()
  await page.done
  expect(page.shown()).toBe(100)
  expect(page.states.at(-1)).toBe('closed')
})
