import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { expect, it, vi } from 'vitest'
import { network } from '@/test/network'
import { show } from '@/test/render'
import { DeleteJob } from './DeleteJob'

// Goal: nothing is sent before it is confirmed; a job that others were built on says so and can go with them.
it('asks first, and names what would have to go too', async () => {
  const sent: string[] = []
  network.use(
    http.delete('/jobs/job-1', ({ request }) => {
      const all = new URL(request.url).searchParams.get('dependents')
      sent.push(all ?? 'alone')
      if (all === 'true') return HttpResponse.json({ job_id: 'job-1', jobs: ['job-1', 'job-2'], texts: 3 })
      return HttpResponse.json({ error: 'conflict', message: '1 job(s) were built on job job-1: job-2' }, { status: 409 })
    }),
  )
  const gone = vi.fn()
  await show(<DeleteJob jobId="job-1" onGone={gone} />)
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Cancel' }))
  expect(sent).toEqual([])

  await userEvent.click(screen.getByRole('button', { name: 'Delete' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete' }))
  expect((await screen.findByRole('alert')).textContent).toContain('job-2')
  expect(gone).not.toHaveBeenCalled()
  await userEvent.click(screen.getByRole('button', { name: 'Delete them too' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete them too' }))
  await waitFor(() => expect(gone).toHaveBeenCalledOnce())
  expect(sent).toEqual(['alone', 'true'])
})

// Goal: where one of the others has not stopped, the refusal stands there, and nothing invites to ask the same again.
it('does not offer again what was refused with the others', async () => {
  network.use(
    http.delete('/jobs/job-1', ({ request }) => {
      const all = new URL(request.url).searchParams.has('dependents')
      const message = all ? 'job job-2 is running: cancel it first' : 'job-2 depends on it'
      return HttpResponse.json({ error: 'conflict', message }, { status: 409 })
    }),
  )
  await show(<DeleteJob jobId="job-1" onGone={() => undefined} />)
  await userEvent.click(await screen.findByRole('button', { name: 'Delete' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete' }))
  await userEvent.click(await screen.findByRole('button', { name: 'Delete them too' }))
  await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Delete them too' }))
  await waitFor(() => expect(screen.getByRole('alert').textContent).toContain('job-2 is running'))
  expect(screen.queryByRole('button', { name: 'Delete them too' })).toBeNull()
})
