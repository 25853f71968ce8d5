// Goal: the form offers what the agent's kind has, whatever the agent is called, and sends nothing that it has not.
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { http, HttpResponse } from 'msw'
import { beforeEach, expect, it } from 'vitest'
import type { Job } from '@/server/types'
import { network, respondWith } from '@/test/network'
import { NODES } from '@/test/nodes'
import { show } from '@/test/render'
import { BranchForm } from './BranchForm'

const agent = (name: string, kind: string) => ({ name, kind, model: 'lab::one', is_llm: true })
const JOB = { job_id: 'job-1', simulation: { symbols: ['IBM'], agents: [agent('desk of one', 'solo'), agent('mine', 'external'), agent('team', 'desk')] } } as unknown as Job

let sent: unknown

beforeEach(() => {
  respondWith('/simulate/options', { nodes: NODES })
  network.use(
    http.post('/simulate/job-1/branch', async ({ request }) => {
      sent = await request.json()
      return HttpResponse.json({ job_id: 'job-2' }, { status: 202 })
    }),
  )
})

const cuts = () => [...document.querySelectorAll('datalist option')].map((option) => option.getAttribute('value'))

it('offers the nodes and the changes that the agent has', async () => {
  await show(<BranchForm job={JOB} dates={['2012-10-01', '2012-10-02']} onClose={() => undefined} />)
  await waitFor(() => expect(cuts()).toContain('solo#1'))
  expect(cuts()).not.toContain('IBM')
  fireEvent.change(screen.getByLabelText('Model'), { target: { value: 'lab::two' } })
  fireEvent.change(screen.getByLabelText(/^Temperature/), { target: { value: '9' } })
  fireEvent.change(screen.getByLabelText('Agent'), { target: { value: 'team' } })
  expect(cuts()).toContain('IBM/Portfolio Manager#1')
  expect(cuts()).not.toContain('solo#1')
  fireEvent.change(screen.getByLabelText('Agent'), { target: { value: 'mine' } })
  expect(cuts()).toEqual(['pre#1', 'external#1', 'bar#1', 'close#1', 'post#1'])
  expect(screen.getByText(/external#1\/turn#3/)).toBeTruthy()
  expect(screen.getByText(/An external agent has no model, instructions or temperature/)).toBeTruthy()
  expect(screen.queryByLabelText('Model')).toBeNull()
  fireEvent.click(screen.getByRole('button', { name: 'Start branch' }))
  await waitFor(() => expect(sent).toEqual({ agent: 'mine', date: '2012-10-02', node: null, model: null, instructions: null, sampling: null }))
})
