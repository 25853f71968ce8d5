import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import type { OpenPosition } from '@/server/types'
import { runJob } from '@/test/job'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { OpenCard } from './cards'

it('shows when sessions saw a memory in the time of the exchange that its run trades on', async () => {
  network.use(http.get('/jobs/job-1', () => HttpResponse.json({ job: runJob('job-1') })))
  respondWith('/datasets/00ff', { name: 'us', zone: 'America/New_York' })
  const read = { path: 'solo#1/read#1', known_at: '2012-10-01T20:00:00Z', message_index: null, tool: null }
  respondWith('/exposures', { kind: 'open_position_context', sessions: [{ session_id: 4, job_id: 'job-1', date: '2012-10-02', model: 'm', is_llm: false, reads: [read], read_count: 1 }], count: 1, next_cursor: null })
  const row = { job_id: 'job-1', model: 'm', position_id: 'p', symbol: 'IBM', side: 'long', quantity: 1, entry_price: 200, leverage: 1, opened_at: '2012-10-01T13:30:00Z', summary: 'Trend intact.' } as OpenPosition
  await show(<OpenCard row={row} />)
  await userEvent.click(screen.getByRole('button', { name: 'Seen by' }))
  expect(await screen.findByText('Oct 1, 2012, 16:00 ET')).toBeTruthy()
})
