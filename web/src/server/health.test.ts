// Goal: a slow server is called slow, never away; one that is away is called so within three seconds.
import { afterEach, expect, it, vi } from 'vitest'
import { heldRoute, SteppedClock } from '@/test/network'
import { sendOr } from './client'
import { noteContact } from './contact'
import { HealthMonitor, type ServerState } from './healthMonitor'
import type { Health } from './types'

const OK = { status: 'ok', version: '0', problems: [], warnings: [] }
let stop: () => void = () => undefined
afterEach(() => stop())

/** Monitors a server whose responses the test holds, with a clock that the test moves. */
function monitor() {
  const clock = new SteppedClock()
  const server = heldRoute('/health')
  const page = { isHidden: false }
  const states: ServerState[] = []
  const created = new HealthMonitor({ check: (signal) => sendOr<Health>(503, '/health', signal), now: clock.now, after: clock.after, isHidden: () => page.isHidden }, () => undefined)
  stop = created.subscribe(() => states.push(created.state()))
  /** Moves the clock in small steps, so that requests are sent on time. */
  const to = async (time: number) => {
    while (clock.now() < time) {
      clock.to(Math.min(time, clock.now() + 100))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }
  const requested = (count: number) => vi.waitFor(() => expect(server.waiting).toBe(count))
  /** Responds to the oldest check. */
  const respond = async (body: object = OK, status = 200) => {
    const before = server.waiting
    server.respond(body as never, status)
    expect(server.waiting).toBe(before - 1)
    await settled()
  }
  const settled = async () => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { clock, server, page, states, state: created.state, to, requested, respond, settled }
}

it('is healthy while the server responds in time', async () => {
  const page = monitor()
  await page.requested(1)
  expect(page.state()).toBe('unknown')
  await page.respond()
  await page.to(1000)
  await page.requested(1)
  await page.respond()
  expect(page.states).toEqual(['ok'])
})

it('calls a server slow that takes two seconds for each response, and never away', async () => {
  const page = monitor()
  await page.requested(1)
  await page.to(1000)
  await page.requested(2)
  await page.to(2000)
  await page.respond()
  expect(page.state()).toBe('slow')
  // From now on there is a response each second, each two seconds late.
  for (let second = 3; second <= 12; second += 1) {
    await page.requested(2)
    await page.to(second * 1000)
    await page.respond()
  }
  expect(page.states).toEqual(['slow'])
})

it('calls a server that falls silent slow at first, and away within three seconds', async () => {
  const page = monitor()
  await page.requested(1)
  await page.respond()
  await page.to(2300)
  expect(page.state()).toBe('slow')
  await page.to(2700)
  expect(page.state()).toBe('slow')
  await page.to(3000)
  expect(page.state()).toBe('away')
  // Its first response is enough.
  await page.respond()
  expect(page.state()).not.toBe('away')
})

it('is away at once when the connection fails, and stays so until a response', async () => {
  const page = monitor()
  await page.requested(1)
  await page.respond()
  await page.to(1000)
  await page.requested(1)
  page.server.fail()
  await vi.waitFor(() => expect(page.state()).toBe('away'))
  await page.to(2000)
  await page.requested(1)
  expect(page.state()).toBe('away')
  await page.respond()
  expect(page.state()).toBe('ok')
})

it('is not away while other requests or a stream are answered', async () => {
  const page = monitor()
  await page.requested(1)
  await page.respond()
  for (let second = 2; second <= 6; second += 1) {
    await page.to(second * 1000)
    noteContact()
  }
  expect(page.states).not.toContain('away')
  expect(page.state()).toBe('slow')
})

it('reports what the server says of itself', async () => {
  const page = monitor()
  await page.requested(1)
  await page.respond({ ...OK, status: 'failing', problems: ['the disk is full'] }, 503)
  expect(page.state()).toBe('failing')
})

it('sends no checks from a hidden page, and does not count that time as silence', async () => {
  const page = monitor()
  await page.requested(1)
  await page.respond()
  page.page.isHidden = true
  await page.to(60_000)
  expect(page.server.waiting).toBe(0)
  page.page.isHidden = false
  document.dispatchEvent(new Event('visibilitychange'))
  await page.requested(1)
  expect(page.state()).toBe('ok')
  await page.respond()
  expect(page.states).toEqual(['ok'])
})
