// Goal: the views of a comparison leave nothing out: lines, pending orders, and the marks of every trial.
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { beforeEach, expect, it, vi } from 'vitest'
import type { ComparedItem, ComparedPair } from '@/server/types'
import { drawnCharts } from '@/test/charts'
import { recordImages } from '@/test/images'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { CompareChart } from './CompareChart'
import { DayView } from './DayView'
import { ItemMarks } from './ItemMarks'
import { linesOf } from './lines'

vi.mock('lightweight-charts', async () => (await import('@/test/charts')).chartLibrary)

beforeEach(() => {
  drawnCharts.length = 0
})

const item = (id: string, part: Partial<ComparedItem> = {}): ComparedItem => ({
  id,
  kind: 'agent',
  label: id,
  agent: id,
  is_llm: true,
  job_ids: ['job-1'],
  curve: ['2012-01-31', '2012-12-31'].map((date, index) => ({ date, log_return: -0.1 * index })),
  days: 15,
  planned_days: 15,
  full_research_days: 15,
  fallback_days: 0,
  fallback_log_return: 0,
  trials: 1,
  windows: 1,
  training_cutoffs: [],
  ...part,
})

function chart() {
  const items = [item('x'), item('y')]
  const pair = { a: 'x', b: 'y', cone: [{ date: '2012-12-31', cumulated: 0.02, half_width: 0.05 }] } as ComparedPair
  return <CompareChart items={items} lines={linesOf(items, (one) => one.label)} pair={pair} onDay={vi.fn()} onPick={vi.fn()} />
}

it('zooms, and has a log scale of growth, which is positive also for losses', async () => {
  await show(chart())
  fireEvent.click(screen.getByRole('button', { name: '3M' }))
  expect(drawnCharts.at(-1)?.range).toEqual({ from: '2012-09-30', to: '2012-12-31' })
  fireEvent.click(screen.getByRole('button', { name: 'Log' }))
  expect(drawnCharts.at(-1)?.mode).toBe(1)
  const [x] = drawnCharts.at(-1)?.series.filter(({ data }) => data.length === 2) ?? []
  expect(x?.data[1]?.value).toBeCloseTo(Math.exp(-0.1), 12)
  fireEvent.click(screen.getByRole('button', { name: 'Reset' }))
  expect(drawnCharts.at(-1)?.range).toBe('all')
})

it('names its lines and the difference in its image', async () => {
  const images = recordImages()
  await show(chart())
  fireEvent.click(screen.getByRole('button', { name: 'PNG', hidden: true }))
  await waitFor(() => expect(images[0]?.texts.map(({ text }) => text).slice(1)).toEqual(['x', 'y', 'x − y']))
})

it('shows the words of a decision and the pending orders of a day', async () => {
  const day = {
    model: 'x',
    metadata: { session_id: 5 },
    provenance: {},
    books: { orders: 1, fills: 0, rejections: 0 },
    daily_metrics: { return_pct: 0 },
    trades: [],
    rejections: [],
    pending_orders: [{ order_id: '9', side: 'buy', symbol: 'IBM', quantity: 3, placed_on: '2012-12-31', fills_at: 'next_open' }],
  }
  respondWith('/results', { date: '2012-12-31', results: [day] })
  respondWith('/sessions/5', { decisions: [], decision_texts: [{ symbol: null, path: 'solo#1/model#2', content: 'The trend is intact, so I buy.' }] })
  await show(<DayView items={[item('x')]} day="2012-12-31" onDay={vi.fn()} />)
  const agent = screen.getByRole('article', { name: 'x' })
  expect(await within(agent).findByText('The trend is intact, so I buy.')).toBeTruthy()
  expect((await within(agent).findByRole('listitem')).textContent).toBe('Pending: Buy 3 IBM (Fills at: Next open)')
})

const result = (part: object) => ({
  model: 'x',
  provenance: { point_in_time: 'verified', reasons: [] },
  full_research: { days: 60, total_days: 60 },
  training_cutoffs: [],
  period_metrics: { days: 60 },
  ...part,
})
const respondByJob = (byJob: Record<string, object>) =>
  network.use(
    http.get('/results', ({ request }) => {
      const found = byJob[new URL(request.url).searchParams.get('job_id') ?? '']
      return found ? HttpResponse.json({ results: [result(found)] }) : HttpResponse.json({ error: 'not_found', message: '' }, { status: 404 })
    }),
  )

it('shows the marks of all trials, once each', async () => {
  const unverified = { provenance: { point_in_time: 'unverified', reasons: [] } }
  respondByJob({ 'job-1': {}, 'job-2': { ...unverified, full_research: { days: 57, total_days: 60 } }, 'job-3': { ...unverified, insolvent: { since: '2012-10-09' } } })
  await show(<ItemMarks item={item('x', { job_ids: ['job-1', 'job-2', 'job-3'] })} />)
  expect((await screen.findByText('Point-in-time unverified')).title).toBe('2 of 3 runs.')
  expect(screen.getByText('Insolvent since Oct 9, 2012').title).toBe('1 of 3 runs.')
  expect(screen.getByText(/177 of 180/)).toBeTruthy()
})

it('says when marks of a trial are missing', async () => {
  respondByJob({ 'job-1': {} })
  await show(<ItemMarks item={item('x', { job_ids: ['job-1', 'job-2'] })} />)
  expect(await screen.findByText('Marks of 1 of 2 runs')).toBeTruthy()
})
