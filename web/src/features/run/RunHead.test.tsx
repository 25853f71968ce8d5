// Goal: a run's page shows its name, tags and note, and edits them only with the scope for it.
import { fireEvent, screen } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import { runJob } from '@/test/job'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { RunHead } from './RunHead'

const labels = { name: 'Autumn', tags: ['paper'], note: 'The first one' }
const head = (part = {}) => <RunHead job={runJob('job-1', part)} connection="ended" stopping={false} onBranch={() => undefined} onDeleted={() => undefined} />

it('shows the name with what is traded, the tags and the note', async () => {
  await show(head({ labels }))
  expect(screen.getByRole('heading', { level: 1 }).textContent).toMatch(/^Autumn Oct 1/)
  expect(screen.getByText('AAPL, IBM')).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Show runs tagged paper' }).getAttribute('href')).toBe('/app/runs?tag=paper')
  expect(screen.getByRole('note').textContent).toBe('The first one')
})

it('edits the labels', async () => {
  const sent: unknown[] = []
  network.use(
    http.patch('/jobs/job-1/labels', async ({ request }) => {
      sent.push(await request.json())
      return HttpResponse.json({ job_id: 'job-1', labels: { ...labels, name: 'Winter' } })
    }),
  )
  await show(head({ labels }))
  fireEvent.click(await screen.findByRole('button', { name: 'Edit labels of Autumn' }))
  fireEvent.change(screen.getByLabelText('Name'), { target: { value: 'Winter' } })
  fireEvent.click(screen.getByRole('button', { name: 'Save' }))
  await expect.poll(() => screen.queryByRole('form', { name: 'Edit labels' })).toBeNull()
  expect(sent).toEqual([{ name: 'Winter' }])
})

it('has no edit button for a read-only token', async () => {
  respondWith('/access', { required: true, name: 'reader', scope: 'read' })
  await show(head())
  expect(screen.getByRole('heading', { level: 1 }).textContent).toMatch(/^AAPL, IBM Oct 1/)
  await expect.poll(() => screen.queryByRole('button', { name: /Edit labels/ })).toBeNull()
})
