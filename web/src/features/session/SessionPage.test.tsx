// Goal: a day that has no session yet requests none, and loads it by itself once it starts.
import { QueryClientProvider } from '@tanstack/react-query'
import { createMemoryHistory, createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { render, screen, waitFor } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { beforeEach, expect, it } from 'vitest'
import { makeQueryClient } from '@/server/cache'
import type { DayDetail } from '@/server/types'
import { I18nProvider } from '@/shared/i18n'
import { runJob } from '@/test/job'
import { network, respondWith, sse } from '@/test/network'
import { NODES } from '@/test/nodes'
import { SessionPage } from './SessionPage'

const MODEL = 'house::momentum'
let requested: string[]
let detail: DayDetail | null
let publish: ((text: string) => void) | null

beforeEach(() => {
  requested = []
  publish = null
  detail = { date: '2012-10-01', model: MODEL, status: 'queued' }
  respondWith('/simulate/options', { nodes: NODES, datasets: [] })
  network.use(
    http.get('/jobs/job-1', () => HttpResponse.json({ job: runJob('job-1', { status: 'running' }) })),
    http.get('/simulate/status/job-1', () => HttpResponse.json({ date_range: ['2012-10-01'], details: detail ? [detail] : [] })),
    http.get('/jobs/job-1/stream', () => {
      const encoder = new TextEncoder()
      const body = new ReadableStream({ start: (controller) => (publish = (text) => controller.enqueue(encoder.encode(text))) })
      return new HttpResponse(body, { headers: { 'Content-Type': 'text/event-stream' } })
    }),
    http.get('/reasoning', () => {
      requested.push('session')
      return HttpResponse.json({ sessions: [] })
    }),
    http.get('/results', () => {
      requested.push('day')
      return HttpResponse.json({ date: '2012-10-01', results: [] })
    }),
  )
})

async function open() {
  const root = createRootRoute()
  const page = createRoute({ getParentRoute: () => root, path: '/app/runs/$jobId/$date/$model', component: SessionPage })
  const rest = createRoute({ getParentRoute: () => root, path: '/app/$', component: () => null })
  const router = createRouter({ routeTree: root.addChildren([page, rest]), history: createMemoryHistory({ initialEntries: [`/app/runs/job-1/2012-10-01/${MODEL}`] }) })
  await router.load()
  const client = makeQueryClient()
  render(
    <QueryClientProvider client={client}>
      <I18nProvider>
        <RouterProvider router={router as never} />
      </I18nProvider>
    </QueryClientProvider>,
  )
}

it('requests no session of a queued day, and loads it when the day starts', async () => {
  await open()
  await screen.findByRole('heading', { name: 'Not started yet' })
  await waitFor(() => expect(publish).not.toBeNull())
  expect(requested).toEqual([])
  detail = { date: '2012-10-01', model: MODEL, status: 'running', started_at: '2026-11-22T05:00:00Z' }
  publish?.(sse('job', 1, { job: {} }))
  await waitFor(() => expect([...new Set(requested)].sort()).toEqual(['day', 'session']))
})

it('requests the result of a skipped day, which another run has, and no session', async () => {
  detail = { date: '2012-10-01', model: MODEL, status: 'skipped' }
  await open()
  await waitFor(() => expect(requested).toEqual(['day']))
})

it('requests the session of a day that was interrupted and waits again', async () => {
  detail = { date: '2012-10-01', model: MODEL, status: 'queued', started_at: '2026-11-22T05:00:00Z' }
  await open()
  await waitFor(() => expect(requested.sort()).toEqual(['day', 'session']))
})

it('requests the session of an imported day, which the status does not list', async () => {
  detail = null
  await open()
  await waitFor(() => expect(requested.sort()).toEqual(['day', 'session']))
})
