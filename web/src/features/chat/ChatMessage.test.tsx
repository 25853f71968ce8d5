import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { act, useState } from 'react'
import { expect, it } from 'vitest'
import type { ActionSummary, ChatMessageRow } from '@/server/actions'
import { changeSettings } from '@/shared/settings'
import { answers, entry, logJob } from '@/test/network'
import { show } from '@/test/render'
import { ChatMessage } from './ChatMessage'

const message = (part: Partial<ChatMessageRow>): ChatMessageRow => ({ id: 1, session_id: 'chat-1', n: 2, role: 'assistant', content: 'Done.', metadata: {}, created_at: '2026-11-22T05:00:00Z', ...part })
const summary: ActionSummary[] = [
  { order: 1, kind: 'plan_operation', name: 'create_plan', display: 'plan_operation/create_plan → 成功', success: true, message: 'plan 3', refs: [{ type: 'plan', id: '3' }] },
  { order: 2, kind: 'tool_operation', name: 'web_search', display: 'tool_operation/web_search → 失败', success: false, message: 'no search service is configured', refs: [] },
]

it('shows a message alone where there is nothing more', async () => {
  await show(<ChatMessage message={message({})} />)
  expect(screen.getByText('Done.')).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Log' })).toBeNull()
})

it('shows the log of the job that a message set off', async () => {
  answers('/jobs/job-1', { job: logJob('completed'), logs: [entry(1)], next_cursor: null, before: null, actions_summary: null })
  await show(<ChatMessage message={message({ content: '', metadata: { type: 'job_log', job_id: 'job-1' } })} />)
  expect(await screen.findByText('plan_operation/create_plan')).toBeTruthy()
  expect(screen.getByText('Working…')).toBeTruthy()
})

it('folds the log away when the turn is done, and asks for it only when it is opened', async () => {
  await show(<ChatMessage message={message({ metadata: { type: 'job_log', job_id: 'job-1' } })} />)
  expect(screen.queryByRole('region', { name: 'Log' })).toBeNull()
  answers('/jobs/job-1', { job: logJob('completed'), logs: [entry(1)], next_cursor: null, before: null, actions_summary: null })
  await userEvent.click(screen.getByText('What it did'))
  expect(await screen.findByText('plan_operation/create_plan')).toBeTruthy()
})

it('shows what is being written until the message is there', async () => {
  await show(<ChatMessage message={message({ content: '' })} draft="I am just" />)
  expect(screen.getByText('I am just')).toBeTruthy()
})

it('shows the summary of actions under the bubble, open where one failed', async () => {
  await show(<ChatMessage message={message({ metadata: { actions_summary: summary } })} />)
  const folded = screen.getByText('2 actions, 1 failed').closest('details')
  expect(folded?.open).toBe(true)
  // The reader's language, whatever the conversation's was.
  expect(screen.getByText('tool_operation/web_search').closest('li')?.textContent).toContain('→ failed')
  expect(screen.getByText('no search service is configured')).toBeTruthy()
})

it('leaves the summary out where the reader does not want it', async () => {
  await show(<ChatMessage message={message({ metadata: { actions_summary: summary } })} />)
  act(() => changeSettings({ showActionSummary: false }))
  expect(screen.queryByText('2 actions, 1 failed')).toBeNull()
  act(() => changeSettings({ showActionSummary: true }))
})

it('never reads a text as HTML', async () => {
  await show(<ChatMessage message={message({ content: '**bold** <script>alert(1)</script> ![x](http://evil/x.png)' })} />)
  expect(screen.getByText('bold').tagName).toBe('STRONG')
  expect(document.querySelector('script, img')).toBeNull()
  expect(screen.getByText(/<script>alert\(1\)<\/script>/)).toBeTruthy()
})

it('makes the IDs of jobs in a reply links to their runs', async () => {
  const id = '0197f3a0-1111-8222-9333-444455556666'
  await show(<ChatMessage message={message({ content: `job ${id}: completed\n- **${id}** as it is` })} />)
  const link = screen.getByRole('link', { name: '55556666' })
  expect(link.getAttribute('href')).toBe(`/app/runs/${id}`)
  expect(link.getAttribute('title')).toBe(id)
})

it('leaves the words of the person as they are', async () => {
  await show(<ChatMessage message={message({ role: 'user', content: 'status of 0197f3a0-1111-8222-9333-444455556666' })} />)
  expect(screen.queryByRole('link')).toBeNull()
})

it('asks before it deletes, and says which action is confirmed', async () => {
  const confirmed: string[][] = []
  let refused = 0
  const pending = [
    { id: 'ab12', name: 'delete_plan', question: 'plan_operation/delete_plan of plan 3 deletes for good. Shall I do it?' },
    { id: 'cd34', name: 'delete_task', question: 'task_operation/delete_task of task 7 deletes for good. Shall I do it?' },
  ]
  await show(<ChatMessage message={message({ metadata: { pending } })} onConfirm={(some) => confirmed.push(some.map((one) => one.id))} onRefuse={() => (refused += 1)} />)
  const waiting = screen.getByRole('group', { name: 'Waiting for your word' })
  await userEvent.click(within(waiting).getAllByRole('button', { name: 'Yes, do it' })[1] as HTMLElement)
  await userEvent.click(within(waiting).getByRole('button', { name: 'Yes, all of it' }))
  await userEvent.click(within(waiting).getByRole('button', { name: 'No, leave it' }))
  expect(confirmed).toEqual([['cd34'], ['ab12', 'cd34']])
  expect(refused).toBe(1)
})

it('folds the log away when the answer comes', async () => {
  answers('/jobs/job-1', { job: logJob('completed'), logs: [entry(1)], next_cursor: null, before: null, actions_summary: null })
  const work = { type: 'job_log', job_id: 'job-1' }
  let answer: () => void = () => {}
  function Turn() {
    const [content, setContent] = useState('')
    answer = () => setContent('Here it is.')
    return <ChatMessage message={message({ content, metadata: work })} />
  }
  await show(<Turn />)
  expect(await screen.findByText('plan_operation/create_plan')).toBeTruthy()
  act(() => answer())
  expect(screen.queryByText('plan_operation/create_plan')).toBeNull()
  expect(screen.getByText('Here it is.')).toBeTruthy()
})

it('leads to what was made, and does not say twice what was done', async () => {
  const metadata = { reply: 'Here it is.', actions_summary: [...summary.slice(0, 1), { order: 2, kind: 'tool_operation' as const, name: 'run_simulation', display: '', success: true, refs: [{ type: 'job', id: 'aaaa-12345678' }] }] }
  await show(<ChatMessage message={message({ content: 'Here it is.\n\nActions: 1. …', metadata })} />)
  expect(screen.getByText('Here it is.')).toBeTruthy()
  expect(screen.queryByText(/Actions: 1/)).toBeNull()
  expect(screen.getByText('plan 3', { selector: 'a' }).getAttribute('href')).toBe('/app/plans?plan=3')
  expect(screen.getByText('run 12345678').getAttribute('href')).toBe('/app/runs/aaaa-12345678')
})
