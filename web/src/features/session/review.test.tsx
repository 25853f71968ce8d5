// Goal: a reader reviews a session with the keyboard, only what was edited is sent, and a read-only token sees the review
// without the form; each call shows its own model, and why its response ended.
import { screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { http, HttpResponse } from 'msw'
import { expect, it } from 'vitest'
import type { Review, Session, Step } from '@/server/types'
import { network, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { CallsView } from './CallsView'
import { ReviewPanel } from './ReviewPanel'

// jsdom lacks it, and the arrow keys of user-event need it.
globalThis.CSS ??= { escape: (text: string) => text } as typeof CSS

const NONE: Review = { score: null, note: null, updated_at: null, updated_by: null }
const session = (review: Partial<Review> = {}) => ({ session_id: 7, job_id: 'job-1', date: '2012-10-01', model: 'a', review: { ...NONE, ...review } }) as Session

function receive(): unknown[] {
  const sent: unknown[] = []
  network.use(
    http.patch('/sessions/7/review', async ({ request }) => {
      const patch = (await request.json()) as Partial<Review>
      sent.push(patch)
      const note = patch.note?.trimEnd() ?? null
      return HttpResponse.json({ session_id: 7, review: { ...NONE, ...patch, note, updated_at: '2026-11-22T05:00:00Z', updated_by: 'desk' } })
    }),
  )
  return sent
}

it('is written with the keyboard, and sends only what was edited', async () => {
  const sent = receive()
  const user = userEvent.setup()
  await show(<ReviewPanel session={session()} />)
  await screen.findByRole('form', { name: 'Review' })
  await user.tab()
  expect(document.activeElement).toBe(screen.getByRole('radio', { name: 'No score' }))
  await user.keyboard('{ArrowRight}{ArrowRight}')
  await user.tab()
  await user.keyboard('Sold too early ')
  await user.tab()
  await user.keyboard('{Enter}')
  await screen.findByText('Saved')
  expect(sent).toEqual([{ score: 2, note: 'Sold too early ' }])
  expect(screen.getByLabelText('Note')).toHaveProperty('value', 'Sold too early')
})

it('removes a score, and leaves the note alone', async () => {
  const sent = receive()
  const user = userEvent.setup()
  await show(<ReviewPanel session={session({ score: 4, note: 'calm' })} />)
  await user.click(await screen.findByRole('radio', { name: 'No score' }))
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await waitFor(() => expect(sent).toEqual([{ score: null }]))
})

it('reports what the server rejects', async () => {
  network.use(http.patch('/sessions/7/review', () => HttpResponse.json({ error: 'invalid_input', message: 'note: more than 10000 bytes' }, { status: 400 })))
  const user = userEvent.setup()
  await show(<ReviewPanel session={session()} />)
  await user.type(await screen.findByLabelText('Note'), 'long')
  await user.click(screen.getByRole('button', { name: 'Save' }))
  expect((await screen.findByRole('alert')).textContent).toBe('note: more than 10000 bytes')
})

it('has no form for a read-only token, which still reads the review', async () => {
  respondWith('/access', { required: true, name: 'reader', scope: 'read' })
  const { unmount } = await show(<ReviewPanel session={session({ score: 4, note: 'calm' })} />)
  await waitFor(() => expect(screen.queryByRole('form')).toBeNull())
  expect(screen.getByText('4 of 5')).toBeTruthy()
  expect(screen.getByText('calm')).toBeTruthy()
  unmount()
  await show(<ReviewPanel session={session()} />)
  await waitFor(() => expect(screen.queryByRole('region', { name: 'Review' })).toBeNull())
})

it('shows the model and finish reason of each call, and nothing where they are unknown', async () => {
  const call = (n: number, part: Partial<Step>): Partial<Step> => ({ path: `solo#1/model#${n}`, kind: 'model', class: 'external', state: 'done', outcome: 'ok', detached: false, attempts: 1, interrupted: 0, input_tokens: 1, output_tokens: 1, cost_usd: 0, estimated_calls: 0, started_at: '2026-11-22T05:00:00Z', ended_at: '2026-11-22T05:00:01Z', ...part })
  const steps = [
    call(1, { model: 'openai::gpt-5', finish_reason: 'tool_calls' }),
    call(2, { model: 'openai::gpt-5-mini', finish_reason: 'length' }),
    call(3, { model: null, finish_reason: null }),
    call(4, { model: 'openai::gpt-5', finish_reason: null, outcome: 'timed_out' }),
  ]
  const reading = { steps: { ofNode: steps, isPending: false, error: null }, desk: { isDesk: false, selected: null, symbol: null }, session: session() }
  await show(<CallsView reading={reading as never} />)
  const cells = within(screen.getByRole('table')).getAllByRole('row').slice(1).map((row) => within(row).getAllByRole('cell').slice(1, 3).map((cell) => cell.textContent))
  expect(cells).toEqual([
    ['openai::gpt-5', 'Tool calls'],
    ['openai::gpt-5-mini', 'Truncated at the token limit'],
    ['–', 'Done'],
    ['openai::gpt-5', 'Timed out'],
  ])
})
