import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { expect, it, vi } from 'vitest'
import { network } from '@/test/network'
import { show } from '@/test/render'
import { DeleteJob } from './DeleteJob'

// Goal: nothing is sent before confirmation; a job with dependents lists them, and can be deleted with them.
it('asks for confirmation and lists the dependent jobs', async () => {
  const requests: string[] = []
  network.use(
    http.delete('/jobs/job-1', ({ request }) => {
      const dependents = new URL(request.url).searchParams.get('dependents')
      requests.push(dependents ?? 'single')
      if (dependents === 'true') return HttpResponse.json({ job_id: 'job-1', jobs: ['job-1', 'job-2'], texts: 3 })
      return HttpResponse.json({ error: 'conflict', message: '1 job(s) depend on job job-1: job-2' }, { status: 409 })
    }),
  )
  const onDeleted = vi.fn()
  await show(<DeleteJob jobId="job-1" onDeleted={onDeleted} />)
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Cancel' }))
  expect(requests).toEqual([])

  await userEvent.click(screen.getByRole('button', { name: 'Delete' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete' }))
  expect((await screen.findByRole('alert')).textContent).toContain('job-2')
  expect(onDeleted).not.toHaveBeenCalled()
  await userEvent.click(screen.getByRole('button', { name: 'Delete dependents too' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete dependents too' }))
  await waitFor(() => expect(onDeleted).toHaveBeenCalledOnce())
  expect(requests).toEqual(['single', 'true'])
})

// Goal: if a dependent job has not stopped, the error is shown and the same request is not offered again.
it('does not offer a request again that was rejected with dependents', async () => {
  network.use(
    http.delete('/jobs/job-1', ({ request }) => {
      const dependents = new URL(request.url).searchParams.has('dependents')
      const message = dependents ? 'job job-2 is running: cancel it first' : 'job-2 depends on it'
      return HttpResponse.json({ error: 'conflict', message }, { status: 409 })
    }),
  )
  await show(<DeleteJob jobId="job-1" onDeleted={() => undefined} />)
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await userEvent.click(await screen.findByRole('button', { name: 'Delete dependents too' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete dependents too' }))
  await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('job-2 is running'))
  expect(screen.queryByRole('button', { name: 'Delete dependents too' })).toBeNull()
})
