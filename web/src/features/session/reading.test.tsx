import { screen, within } from '@testing-library/react'
import { expect, it } from 'vitest'
import { cutsOf, degradationsOf } from '@/server/recorded'
import type { DayResult, Exposure, Message } from '@/server/types'
import { TABLE } from '@/test/nodes'
import { show } from '@/test/render'
import { requestOf, responseOf, textOfRequest } from './calls'
import { DataSeenView } from './DataSeenView'
import { decisionOf, ordersOf } from './decision'
import { bySeries, newestOf, readers } from './readers'
import { viewOf } from './useReading'

const message = (index: number, path: string, part: Partial<Message> = {}): Message => ({ message_index: index, role: 'assistant', content: `message ${index}`, node: path.split('/').slice(0, -1).join('/'), path, timestamp: '2012-10-01T13:30:00Z', ...part })
const read = (path: string, known: string): Exposure => ({ path, dataset: 'd', series: 'AAPL/bars', rows: 60, first_date: '2012-07-01', last_date: known.slice(0, 10), latest_known_at: known })

it('opens on the decision, and links to a node or a message on the conversation', () => {
  expect(viewOf({})).toBe('decision')
  expect(viewOf({ symbol: 'AAPL' })).toBe('decision')
  expect(viewOf({ node: 'solo#1' })).toBe('conversation')
  expect(viewOf({ at: '7' })).toBe('conversation')
  expect(viewOf({ at: 'close#1/book#1', view: 'tape' })).toBe('tape')
  expect(viewOf({ view: 'nonsense' })).toBe('decision')
})

it('tells the agent’s reads from those after the close and those of the books', async () => {
  const reads = [read('solo#1/read#1', '2012-09-28T20:00:00Z'), read('AAPL/Market Analyst#1/read#2', '2012-10-01T13:30:00Z'), read('close#1/book#1', '2012-10-01T20:00:00Z'), read('bar#1/book#3', '2012-10-01T15:00:00Z'), read('post#1/read#1', '2012-10-01T20:00:00Z')]
  const found = readers(TABLE, reads)
  expect(found.agent.map((one) => one.path)).toEqual(['solo#1/read#1', 'AAPL/Market Analyst#1/read#2'])
  expect(found.after.map((one) => one.path)).toEqual(['post#1/read#1'])
  expect(found.books.map((one) => one.path)).toEqual(['close#1/book#1', 'bar#1/book#3'])
  expect(newestOf(found.agent)).toBe('2012-10-01T13:30:00Z')

  await show(<DataSeenView table={TABLE} reads={reads} pending={false} error={null} dataset={null} zone="America/New_York" onGo={() => {}} />)
  const agent = screen.getByText('Read by the agent').closest('details') as HTMLElement
  expect(within(agent).getAllByText(/09:30/).length).toBeGreaterThan(0)
  expect(agent.textContent).not.toContain('16:00 EDT, ')
  expect(agent.textContent).not.toContain('close#1')
  const books = screen.getByText('Read by the books').closest('details') as HTMLDetailsElement
  expect(books.open).toBe(false)
  expect(books.textContent).toContain('not look-ahead')
  expect(books.textContent).toContain('close#1/book#1')
})

it('finds the decision of an agent and of a desk, and never the words after the close', () => {
  const solo = [message(0, 'solo#1/model#1'), message(1, 'solo#1/model#2', { content: 'I buy.' }), message(2, 'solo#1/model#3', { content: ' ' }), message(3, 'post#1/model#1', { content: 'A lesson.' })]
  expect(decisionOf(TABLE, solo, null)?.content).toBe('I buy.')
  const desk = [message(0, 'IBM/Portfolio Manager#1/model#1', { content: 'Rating: Buy' }), message(1, 'AAPL/Portfolio Manager#1/model#1', { content: 'Rating: Hold' }), message(2, 'IBM/Trader#1/model#9')]
  expect(decisionOf(TABLE, desk, 'IBM')?.content).toBe('Rating: Buy')
  expect(decisionOf(TABLE, [], null)).toBeNull()
})

it('lists fills, rejected and pending orders with the calls that placed them', () => {
  const call = message(1, 'solo#1/order#1', { role: 'tool', tool_name: 'buy', tool_input: { reason: 'cheap' } })
  const day = {
    metadata: { session_id: 5 },
    trades: [
      { action_id: 1, action_type: 'buy', symbol: 'IBM', quantity: 3, price: 200, order: { session_id: 5, path: 'solo#1/order#1', date: '2012-10-01' } },
      { action_id: 2, action_type: 'stop', symbol: 'IBM', quantity: 3, price: 190, order: { session_id: 4, path: 'solo#1/order#1', date: '2012-09-28' } },
    ],
    rejections: [{ order_id: '7', side: 'buy', symbol: 'GM', quantity: 1, status: 'rejected', code: 'unknown_symbol' }],
    pending_orders: [{ order_id: '8', side: 'sell', symbol: 'IBM', quantity: 1, placed_on: '2012-10-01' }],
  } as unknown as DayResult
  const orders = ordersOf(day, [message(0, 'solo#1/model#1'), call])
  expect(orders.map((order) => [order.state, order.symbol, order.message?.path ?? null])).toEqual([
    ['filled', 'IBM', 'solo#1/order#1'],
    ['filled', 'IBM', null],
    ['rejected', 'GM', null],
    ['pending', 'IBM', null],
  ])
})

it('rebuilds a call’s request from its node’s messages', () => {
  const messages = [message(0, 'solo#1/message#1', { role: 'user' }), message(1, 'other#1/model#1'), message(2, 'solo#1/model#1', { content: '' }), message(3, 'solo#1/read#1', { role: 'tool', tool_name: 'get_price' }), message(4, 'solo#1/model#2')]
  const request = requestOf('solo#1/model#2', messages, [{ node: 'solo#1', content: 'You trade.' }])
  expect(request.messages.map((one) => one.message_index)).toEqual([0, 2, 3])
  expect(textOfRequest(request)).toBe('## system\n\nYou trade.\n\n## user\n\nmessage 0\n\n## assistant\n\n\n\n## tool get_price\n\nmessage 3')
  expect(responseOf('solo#1/model#2', messages)?.message_index).toBe(4)
  expect(responseOf('solo#1/model#3', messages)).toBeNull()
})

it('reads open parts of a day’s result without trusting them', () => {
  const day = { provenance: { degradations: [{ node: 'Trader', kind: 'timeout', reason: 'trader_timeout', elapsed_ms: 5 }, 'nonsense', null] }, metadata: { sizing: { cuts: [{ code: 'lot', symbol: 'IBM', numbers: { wanted: 3.5 } }] } } } as unknown as DayResult
  expect(degradationsOf(day)).toEqual([{ symbol: null, node: 'Trader', kind: 'timeout', reason: 'trader_timeout', elapsed_ms: 5 }])
  expect(cutsOf(day)).toEqual([{ code: 'lot', message: '', symbol: 'IBM', numbers: { wanted: '3.5' } }])
  expect(degradationsOf(null)).toEqual([])
})

it('groups reads by series', () => {
  const [one, ...rest] = bySeries([read('a/read#1', '2012-09-28T20:00:00Z'), { ...read('b/read#1', '2012-10-01T13:30:00Z'), rows: 80 }])
  expect(rest).toEqual([])
  expect(one).toMatchObject({ reads: 2, rows: 80, last: '2012-10-01', known: '2012-10-01T13:30:00Z', paths: ['a/read#1', 'b/read#1'] })
})
