import { expect, it } from 'vitest'
import type { DayResult, Exposure, Message, Session } from '@/server/types'
import { TABLE } from '@/test/nodes'
import { bySeries, lineageOf } from './lineage'

const message = (index: number, path: string, part: Partial<Message>): Message => ({
  message_index: index,
  role: 'assistant',
  content: '',
  node: path.split('/')[0] ?? '',
  path,
  timestamp: '2012-10-01T13:30:00Z',
  ...part,
})
const exposure = (path: string, series: string): Exposure => ({ path, dataset: 'd', series, rows: 50, first_date: '2012-07-01', last_date: '2012-09-28', latest_known_at: '2012-09-28T20:00:00Z' })
const session = (conversation: Message[]) => ({ conversation }) as Session

it('traces a solo agent’s fill to its order, the preceding message and the data read so far', () => {
  const conversation = [
    message(0, 'solo#1/model#1', { content: 'Checking prices.' }),
    message(1, 'solo#1/model#2', { content: 'Now I buy.' }),
    message(2, 'solo#1/order#1', { role: 'tool', tool_name: 'buy', tool_input: { symbol: 'AAPL', reason: 'cheap' }, content: '{"order_id":"1"}' }),
    message(3, 'solo#1/order#2', { role: 'tool', tool_name: 'buy', tool_input: { symbol: 'IBM', reason: 'the trend is up' }, content: '{"order_id":"2"}' }),
  ]
  const reads = [exposure('solo#1/read#1', 'IBM/bars'), exposure('solo#1/read#1', 'AAPL/bars'), exposure('close#1/book#1', 'IBM/bars')]
  const steps = ['solo#1/read#1', 'solo#1/order#1', 'solo#1/order#2', 'solo#1/read#9'].map((path) => ({ path, kind: 'order' })) as never
  const found = lineageOf(TABLE, { order_id: '2', symbol: 'IBM' }, session(conversation), null, steps, reads, [])
  expect(found.orderPath).toBe('solo#1/order#2')
  expect(found.reason).toBe('the trend is up')
  expect(found.decision?.text).toBe('Now I buy.')
  expect(found.reads.map((one) => [one.path, one.series])).toEqual([['solo#1/read#1', 'IBM/bars']])
})

it('traces an external agent’s fill to the decision that it states at the end', () => {
  const conversation = [
    message(0, 'external#1/order#1', { role: 'tool', tool_name: 'buy', tool_input: { symbol: 'IBM', reason: 'one a day' }, content: '{"order_id":"1"}' }),
    message(1, 'external#1/said#1', { content: 'The trend is intact.' }),
  ]
  const found = lineageOf(TABLE, { order_id: '1', symbol: 'IBM' }, session(conversation), null, [], [], [])
  expect(found.decision).toMatchObject({ path: 'external#1/said#1', text: 'The trend is intact.' })
})

it('traces a desk’s fill through sizing to the decision and its contributing nodes', () => {
  const conversation = [
    message(0, 'IBM/Bull Researcher#1/model#1', { content: 'Buy IBM' }),
    message(1, 'AAPL/Portfolio Manager#1/model#1', { content: 'other' }),
    message(2, 'IBM/Trader#1/model#1', { content: 'proposal' }),
    message(3, 'IBM/Portfolio Manager#1/model#1', { content: 'Rating: Buy' }),
  ]
  const day = { metadata: { sizing: { orders: [{ order_id: '1', symbol: 'AAPL' }, { order_id: '2', symbol: 'IBM' }], cuts: [{ symbol: 'IBM', code: 'lot', message: 'whole lots' }, { symbol: 'AAPL', code: 'cash', message: '' }] } } } as unknown as DayResult
  const steps = [{ path: 'sizing#1/order#1', kind: 'order' }, { path: 'sizing#1/order#2', kind: 'order' }] as never
  const recalled = [{ path: 'IBM/Trader#1/message#1', text: '', items: [{ memory_type: 'trade', memory_id: '1', known_at: '', text: 'lesson' }] }, { path: 'AAPL/Trader#1/message#1', text: '', items: [{ memory_type: 'trade', memory_id: '2', known_at: '', text: 'other' }] }]
  const found = lineageOf(TABLE, { order_id: '2', symbol: 'IBM' }, session(conversation), day, steps, [], recalled)
  expect(found.orderPath).toBe('sizing#1/order#2')
  expect(found.decision).toMatchObject({ scope: 'IBM/Portfolio Manager#1', text: 'Rating: Buy' })
  expect(found.before.map((link) => link.name)).toEqual(['Trader', 'Bull Researcher'])
  expect(found.cuts.map((cut) => cut.code)).toEqual(['lot'])
  expect(found.memories.map((item) => item.text)).toEqual(['lesson'])
})

it('has no order for a stop', () => {
  const found = lineageOf(TABLE, { order_id: null, symbol: 'IBM' }, session([]), null, [], [], [])
  expect(found).toMatchObject({ orderPath: null, decision: null, before: [] })
})

it('groups reads by series', () => {
  const [one, ...rest] = bySeries([exposure('a/read#1', 'IBM/bars'), { ...exposure('b/read#1', 'IBM/bars'), rows: 80, last_date: '2012-10-01', latest_known_at: '2012-10-01T13:30:00Z' }])
  expect(rest).toEqual([])
  expect(one).toMatchObject({ reads: 2, rows: 80, last: '2012-10-01', known: '2012-10-01T13:30:00Z', paths: ['a/read#1', 'b/read#1'] })
})
