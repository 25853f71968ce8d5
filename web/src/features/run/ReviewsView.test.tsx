// Goal: a run's reviewed sessions are listed page by page, filtered, sorted and exported.
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Job, ReviewedSession } from '@/server/types'
import { network } from '@/test/network'
import { show } from '@/test/render'
import { ReviewsView } from './ReviewsView'

const review = (id: number, date: string, model: string, score: number | null, note: string | null): ReviewedSession => ({ session_id: id, date, model, status: 'completed', review: { score, note, updated_at: '2026-11-22T05:00:00Z', updated_by: 'desk' } })
const REVIEWS = [review(1, '2012-10-01', 'a', 2, 'late'), review(2, '2012-10-01', 'b', 5, null), review(3, '2012-10-02', 'a', null, 'a, "b"')]
const JOB = { job_id: 'job-1' } as Job

let reviews: ReviewedSession[]

beforeEach(() => {
  reviews = REVIEWS
  network.use(
    http.get('/jobs/job-1/reviews', ({ request }) => {
      const at = Number(new URL(request.url).searchParams.get('cursor') ?? 0)
      return HttpResponse.json({ job_id: 'job-1', reviews: reviews.slice(at, at + 2), count: 2, next_cursor: at + 2 < reviews.length ? String(at + 2) : null })
    }),
  )
})

const scores = () => within(screen.getByRole('table')).getAllByRole('row').slice(1).map((row) => within(row).getAllByRole('cell')[2]?.textContent)

it('lists, filters and sorts the reviews of all pages', async () => {
  await show(<ReviewsView job={JOB} />)
  expect(await screen.findByText('3 sessions, mean score 3.5')).toBeTruthy()
  expect(scores()).toEqual(['2', '5', '–'])
  fireEvent.click(screen.getByRole('button', { name: /^Score/ }))
  expect(scores()).toEqual(['5', '2', '–'])
  fireEvent.change(screen.getByRole('combobox', { name: 'Agent' }), { target: { value: 'a' } })
  expect(scores()).toEqual(['2', '–'])
  fireEvent.change(screen.getByRole('combobox', { name: 'Score' }), { target: { value: 'none' } })
  expect(scores()).toEqual(['–'])
})

it('explains an empty list', async () => {
  reviews = []
  await show(<ReviewsView job={JOB} />)
  expect(await screen.findByText('No reviews')).toBeTruthy()
})

it('has one download, with every field and nothing that a spreadsheet runs', async () => {
  reviews = [...REVIEWS, review(4, '2012-10-03', 'a', 1, '=1+1')]
  const files: Blob[] = []
  URL.createObjectURL = vi.fn((blob: Blob) => (files.push(blob), 'blob:it'))
  URL.revokeObjectURL = vi.fn()
  await show(<ReviewsView job={JOB} />)
  await screen.findByRole('table')
  fireEvent.click(screen.getByRole('button', { name: 'CSV', hidden: true }))
  await waitFor(() => expect(files).toHaveLength(1))
  const text = await new Promise<string>((resolve) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.readAsText(files[0] as Blob)
  })
  expect(text.replace('\ufeff', '').trim().split('\r\n')).toEqual([
    'job_id,session_id,date,agent,status,score,note,updated_at,updated_by',
    'job-1,1,2012-10-01,a,completed,2,late,2026-11-22T05:00:00Z,desk',
    'job-1,2,2012-10-01,b,completed,5,,2026-11-22T05:00:00Z,desk',
    'job-1,3,2012-10-02,a,completed,,"a, ""b""",2026-11-22T05:00:00Z,desk',
    "job-1,4,2012-10-03,a,completed,1,'=1+1,2026-11-22T05:00:00Z,desk",
  ])
})
