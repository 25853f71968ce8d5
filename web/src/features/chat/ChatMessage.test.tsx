import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { act, useState } from 'react'
import { expect, it } from 'vitest'
import type { ActionSummary, ChatMessageRow } from '@/server/actions'
import { changeSettings } from '@/shared/settings'
import { respondWith, entry, logJob } from '@/test/network'
import { show } from '@/test/render'
import { ChatMessage } from './ChatMessage'

const message = (part: Partial<ChatMessageRow>): ChatMessageRow => ({ id: 1, session_id: 'chat-1', n: 2, role: 'assistant', content: 'Done.', metadata: {}, created_at: '2026-11-22T05:00:00Z', ...part })
const summary: ActionSummary[] = [
  { order: 1, kind: 'plan_operation', name: 'create_plan', display: 'plan_operation/create_plan → 成功', success: true, message: 'plan 3', refs: [{ type: 'plan', id: '3' }] },
  { order: 2, kind: 'tool_operation', name: 'web_search', display: 'tool_operation/web_search → 失败', success: false, message: 'no search service is configured', refs: [] },
]

it('shows a plain message without a log', async () => {
  await show(<ChatMessage message={message({})} />)
  expect(screen.getByText('Done.')).toBeTruthy()
  expect(screen.queryByRole('region', { name: 'Log' })).toBeNull()
})

it('shows the log of the job that a message started', async () => {
  respondWith('/jobs/job-1', { job: logJob('completed'), logs: [entry(1)], next_cursor: null, before: null, actions_summary: null })
  await show(<ChatMessage message={message({ content: '', metadata: { type: 'job_log', job_id: 'job-1' } })} />)
  expect(await screen.findByText('plan_operation/create_plan')).toBeTruthy()
  expect(screen.getByText('Working…')).toBeTruthy()
})

it('collapses the log when the turn is done and loads it only when opened', async () => {
  await show(<ChatMessage message={message({ metadata: { type: 'job_log', job_id: 'job-1' } })} />)
  expect(screen.queryByRole('region', { name: 'Log' })).toBeNull()
  respondWith('/jobs/job-1', { job: logJob('completed'), logs: [entry(1)], next_cursor: null, before: null, actions_summary: null })
  await userEvent.click(screen.getByText('Action log'))
  expect(await screen.findByText('plan_operation/create_plan')).toBeTruthy()
})

it('shows the draft until the message is stored', async () => {
  await show(<ChatMessage message={message({ content: '' })} draft="I am just" />)
  expect(screen.getByText('I am just')).toBeTruthy()
})

it('shows the action summary, expanded if an action failed', async () => {
  await show(<ChatMessage message={message({ metadata: { actions_summary: summary } })} />)
  const folded = screen.getByText('2 actions, 1 failed').closest('details')
  expect(folded?.open).toBe(true)
  // The UI language, whatever the language of the conversation.
  expect(screen.getByText('tool_operation/web_search').closest('li')?.textContent).toContain('→ failed')
  expect(screen.getByText('no search service is configured')).toBeTruthy()
})

it('hides the summary if the setting is off', async () => {
  await show(<ChatMessage message={message({ metadata: { actions_summary: summary } })} />)
  act(() => changeSettings({ showActionSummary: false }))
  expect(screen.queryByText('2 actions, 1 failed')).toBeNull()
  act(() => changeSettings({ showActionSummary: true }))
})

it('never renders text as HTML', async () => {
  await show(<ChatMessage message={message({ content: '**bold** <script>alert(1)</script> ![x](http://evil/x.png)' })} />)
  expect(screen.getByText('bold').tagName).toBe('STRONG')
  expect(document.querySelector('script, img')).toBeNull()
  expect(screen.getByText(/<script>alert\(1\)<\/script>/)).toBeTruthy()
})

it('links job IDs in a reply to their runs', async () => {
  const id = '0197f3a0-1111-8222-9333-444455556666'
  await show(<ChatMessage message={message({ content: `job ${id}: completed\n- **${id}** as it is` })} />)
  const link = screen.getByRole('link', { name: '55556666' })
  expect(link.getAttribute('href')).toBe(`/app/runs/${id}`)
  expect(link.getAttribute('title')).toBe(id)
})

it('does not link IDs in the user’s message', async () => {
  await show(<ChatMessage message={message({ role: 'user', content: 'status of 0197f3a0-1111-8222-9333-444455556666' })} />)
  expect(screen.queryByRole('link')).toBeNull()
})

it('requires confirmation and sends the IDs of the confirmed actions', async () => {
  const confirmed: string[][] = []
  let declined = 0
  const pending = [
    { id: 'ab12', name: 'delete_plan', question: 'plan_operation/delete_plan of plan 3 deletes for good. Shall I do it?' },
    { id: 'cd34', name: 'delete_task', question: 'task_operation/delete_task of task 7 deletes for good. Shall I do it?' },
  ]
  await show(<ChatMessage message={message({ metadata: { pending } })} onConfirm={(some) => confirmed.push(some.map((one) => one.id))} onDecline={() => (declined += 1)} />)
  const waiting = screen.getByRole('group', { name: 'Awaiting confirmation' })
  await userEvent.click(within(waiting).getAllByRole('button', { name: 'Confirm' })[1] as HTMLElement)
  await userEvent.click(within(waiting).getByRole('button', { name: 'Confirm all' }))
  await userEvent.click(within(waiting).getByRole('button', { name: 'Decline' }))
  expect(confirmed).toEqual([['cd34'], ['ab12', 'cd34']])
  expect(declined).toBe(1)
})

it('collapses the log when the answer arrives', async () => {
  respondWith('/jobs/job-1', { job: logJob('completed'), logs: [entry(1)], next_cursor: null, before: null, actions_summary: null })
  const work = { type: 'job_log', job_id: 'job-1' }
  let receiveAnswer: () => void = () => {}
  function Turn() {
    const [content, setContent] = useState('')
    receiveAnswer = () => setContent('Here it is.')
    return <ChatMessage message={message({ content, metadata: work })} />
  }
  await show(<Turn />)
  expect(await screen.findByText('plan_operation/create_plan')).toBeTruthy()
  act(() => receiveAnswer())
  expect(screen.queryByText('plan_operation/create_plan')).toBeNull()
  expect(screen.getByText('Here it is.')).toBeTruthy()
})

it('links to created objects and does not repeat the list of actions', async () => {
  const metadata = { reply: 'Here it is.', actions_summary: [...summary.slice(0, 1), { order: 2, kind: 'tool_operation' as const, name: 'run_simulation', display: '', success: true, refs: [{ type: 'job', id: 'aaaa-12345678' }] }] }
  await show(<ChatMessage message={message({ content: 'Here it is.\n\nActions: 1. …', metadata })} />)
  expect(screen.getByText('Here it is.')).toBeTruthy()
  expect(screen.queryByText(/Actions: 1/)).toBeNull()
  expect(screen.getByText('Plan 3', { selector: 'a' }).getAttribute('href')).toBe('/app/plans?plan=3')
  expect(screen.getByText('Run 12345678').getAttribute('href')).toBe('/app/runs/aaaa-12345678')
})
