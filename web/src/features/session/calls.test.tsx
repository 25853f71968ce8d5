// Goal: the calls of a session sort, are saved with every field, and include those of its summaries; the tape names its
// columns; a single agent's calls and system prompt come from its deciding node, whatever its name.
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, it, vi } from 'vitest'
import type { ReactNode } from 'react'
import type { Step } from '@/server/types'
import { I18nProvider } from '@/shared/i18n'
import { TABLE } from '@/test/nodes'
import { CallsView } from './CallsView'
import { ConversationView } from './ConversationView'
import { nodesOf } from './desk'
import { TapeView } from './TapeView'
import type { Reading } from './useReading'
import { Waterfall } from './Waterfall'

const saveCsv = vi.hoisted(() => vi.fn())
vi.mock('@/shared/exportFiles', async (original) => ({ ...(await original<object>()), saveCsv }))

const step = (path: string, part: Partial<Step> = {}): Step => ({
  path, kind: 'model', class: 'external', state: 'done', outcome: 'ok', finish_reason: 'stop', model: 'openai::gpt-5', detached: false, seq: 1, digest: '0123456789abcdef', attempts: 1, interrupted: 0,
  input_tokens: 100, output_tokens: 20, cost_usd: 0.01, estimated_calls: 0, started_at: '2026-11-22T05:00:00Z', ended_at: '2026-11-22T05:00:01Z', ...part,
})
const CALLS = [
  step('solo#1/model#1', { cost_usd: 0.02 }),
  step('solo#1/model#2', { cost_usd: null, started_at: '2026-11-22T05:00:02Z', ended_at: '2026-11-22T05:00:05Z' }),
  step('summary#1/model#1', { cost_usd: 0.05, detached: true, started_at: '2026-11-22T05:00:06Z', ended_at: '2026-11-22T05:00:07Z' }),
]
const messages = [{ message_index: 0, role: 'assistant', content: 'I buy.', node: 'solo#1', path: 'solo#1/model#1', timestamp: '2012-10-01T13:30:00Z' }]
const goTo = vi.fn()
const reading = {
  table: TABLE,
  steps: { all: CALLS, ofNode: [...CALLS, step('solo#1/read#1', { kind: 'read', class: 'local' })], isPending: false, error: null },
  desk: { isDesk: false, selected: null, symbol: null },
  session: { conversation: messages },
  conversation: { instructions: [{ node: 'solo#1', content: 'You trade.' }], visible: messages, remaining: 0, total: 1, isPending: false, error: null, retry: vi.fn() },
  search: {},
  running: false,
  select: vi.fn(),
  goTo,
} as unknown as Reading

beforeEach(() => vi.clearAllMocks())

const show = (node: ReactNode) => render(<I18nProvider>{node}</I18nProvider>)
const names = () => screen.getAllByRole('row').slice(1).map((row) => within(row).getAllByRole('cell')[0]?.textContent)

it('lists the calls of the summaries and sorts all of them', () => {
  show(<CallsView reading={reading} />)
  expect(names()).toEqual(['Agent · model#1', 'Agent · model#2', 'summary#1/model#1Summary'])
  fireEvent.click(screen.getByRole('button', { name: /cost/i }))
  expect(names()).toEqual(['summary#1/model#1Summary', 'Agent · model#1', 'Agent · model#2'])
  fireEvent.click(screen.getByRole('button', { name: /^Duration/ }))
  expect(names()[0]).toBe('Agent · model#2')
})

it('opens the request and response of a call, and explains that a summary has none here', () => {
  show(<CallsView reading={reading} />)
  const call = screen.getByRole('button', { name: 'Agent · model#1' })
  fireEvent.click(call)
  expect(call.getAttribute('aria-expanded')).toBe('true')
  expect(within(screen.getByRole('region', { name: 'Response' })).getByText('I buy.')).toBeTruthy()
  fireEvent.click(screen.getByRole('button', { name: 'summary#1/model#1' }))
  expect(screen.queryByRole('region', { name: 'Response' })).toBeNull()
  expect(screen.getByText(/The transcript does not include their requests and responses/)).toBeTruthy()
})

it('saves every field of a call', async () => {
  show(<CallsView reading={reading} />)
  fireEvent.click(screen.getByRole('button', { name: 'CSV', hidden: true }))
  await waitFor(() => expect(saveCsv).toHaveBeenCalled())
  const [name, data] = saveCsv.mock.calls[0] ?? []
  expect(name).toBe('model-calls')
  expect(data.columns).toEqual(['path', 'is_summary', 'model', 'state', 'outcome', 'finish_reason', 'attempts', 'interrupted', 'reused_from', 'input_tokens', 'output_tokens', 'estimated_calls', 'cost_usd', 'started_at', 'ended_at'])
  expect(data.rows[2].slice(0, 3)).toEqual(['summary#1/model#1', true, 'openai::gpt-5'])
})

it('names the columns of the tape', () => {
  show(<TapeView steps={CALLS} pending={false} error={null} at="solo#1/model#2" />)
  const table = screen.getByRole('table', { name: 'Tape' })
  expect(within(table).getAllByRole('columnheader').map((head) => head.textContent)).toEqual(['#', 'Step', 'Kind', 'Tokens', 'Duration', 'Hash'])
  const marked = within(table).getAllByRole('row').find((row) => row.getAttribute('aria-current') === 'true')
  expect(marked && within(marked).getAllByRole('cell').map((cell) => cell.textContent)).toEqual(['1', 'solo#1/model#2', 'model', '100→20', '3 s', '01234567'])
})

it('labels a single agent’s calls without their node, and shows its system prompt', () => {
  const steps = [step('external#1/turn#1', { kind: 'turn' }), step('solo#1/model#1')]
  show(<Waterfall nodes={nodesOf(TABLE, steps, [], [], false)} selected={null} onSelect={vi.fn()} byCall />)
  expect(screen.getByRole('button', { name: 'turn#1' })).toBeTruthy()
  expect(screen.getByRole('button', { name: 'model#1' })).toBeTruthy()
  show(<ConversationView reading={{ ...reading, conversation: { ...reading.conversation, visible: [], instructions: [{ node: 'external#1', content: 'You trade.' }] } }} />)
  expect(screen.getByText('System prompt')).toBeTruthy()
})
