import { expect, it } from 'vitest'
import type { Step } from '@/server/types'
import { TABLE } from '@/test/nodes'
import { isDesk, nodesOf, phaseTotal, placeOf, singleScope, symbolsOf } from './desk'

const step = (path: string, from: number, to: number | null, part: Partial<Step> = {}): Step => ({
  path,
  kind: 'model',
  class: 'external',
  state: to === null ? 'intent' : 'done',
  outcome: to === null ? null : 'ok',
  model: 'house::momentum',
  finish_reason: to === null ? null : 'stop',
  detached: false,
  seq: 1,
  digest: 'd',
  request_ref: null,
  outcome_ref: null,
  reused_from: null,
  attempts: 1,
  interrupted: 0,
  input_tokens: 10,
  output_tokens: 2,
  cost_usd: 0,
  estimated_calls: 0,
  started_at: new Date(from).toISOString(),
  ended_at: to === null ? null : new Date(to).toISOString(),
  hash: null,
  ...part,
})

it('parses the node of a step’s path', () => {
  expect(placeOf('AAPL/Trader#2/model#1')).toEqual({ scope: 'AAPL/Trader#2', symbol: 'AAPL', name: 'Trader', round: 2 })
  expect(placeOf('solo#1/read#3')).toEqual({ scope: 'solo#1', symbol: null, name: 'solo', round: 1 })
})

it('reads from the table which node decides, of a desk and of a single agent', () => {
  expect(TABLE.decider?.name).toBe('Portfolio Manager')
  expect(singleScope(TABLE, ['post#1', 'external#1'])).toBe('external#1')
  expect(singleScope(TABLE, ['IBM/Portfolio Manager#1', 'post#1'])).toBeNull()
  expect(nodesOf(TABLE, [step('solo#1/model#1', 0, 100), step('post#1/model#1', 200, 300)], [], [], false).map((node) => node.decides)).toEqual([true, false])
})

it('builds nodes from steps, in graph order, with times since the first call', () => {
  const steps = [
    step('AAPL/Trader#1/model#1', 3000, 4000),
    step('AAPL/Market Analyst#1/model#1', 1000, 1500),
    step('AAPL/Market Analyst#1/read#1', 1500, 1500, { class: 'local', kind: 'read' }),
    step('AAPL/Market Analyst#1/model#2', 1600, 2500),
    step('AAPL/News Analyst#1/model#1', 1000, 2000),
    step('AAPL/node#1', 2500, 2500, { class: 'local', kind: 'node' }),
    step('summary#1/model#1', 9000, 9500, { detached: true }),
  ]
  const nodes = nodesOf(TABLE, steps, [], [], false)
  expect(nodes.map((node) => [node.name, node.start, node.end, node.calls.length])).toEqual([
    ['Market Analyst', 0, 1500, 2],
    ['News Analyst', 0, 1000, 1],
    ['Trader', 2000, 3000, 1],
  ])
  expect(isDesk(nodes)).toBe(true)
  expect(symbolsOf(nodes)).toEqual(['AAPL'])
  // The analysts ran in parallel: the phase took as long as the slower one.
  expect(phaseTotal(nodes, 'analyst')).toBe(1500)
})

it('marks the degraded node only for the right instrument', () => {
  const steps = [step('AAPL/Bull Researcher#1/model#1', 0, 100), step('IBM/Bull Researcher#1/model#1', 0, 100)]
  const nodes = nodesOf(TABLE, steps, [], [{ symbol: 'IBM', node: 'Bull Researcher', kind: 'timeout', reason: 'bull_researcher_timeout', elapsed_ms: 30_000 }], false)
  expect(nodes.map((node) => [node.symbol, node.state, node.reason, node.end])).toEqual([
    ['AAPL', 'ok', null, 100],
    ['IBM', 'degraded', 'bull_researcher_timeout', 30_000],
  ])
})

it('shows running and waiting nodes while the session runs', () => {
  const steps = [step('AAPL/Market Analyst#1/model#1', 0, 100), step('AAPL/Bull Researcher#1/model#1', 100, null)]
  const states = new Map(nodesOf(TABLE, steps, [], [], true).map((node) => [node.name, node.state]))
  expect(states.get('Market Analyst')).toBe('ok')
  expect(states.get('Bull Researcher')).toBe('running')
  expect(states.get('Portfolio Manager')).toBe('waiting')
  // Research has started, so an analyst without steps is not part of this desk.
  expect(states.has('News Analyst')).toBe(false)
})

it('handles a session without steps', () => {
  expect(nodesOf(TABLE, [], [], [], false)).toEqual([])
  expect(nodesOf(TABLE, [], [], [], true)).toEqual([])
})

it('lets debaters take turns, and puts an unknown node after the roles', () => {
  const paths = ['Bull Researcher#1', 'Bear Researcher#1', 'Bull Researcher#2', 'Bear Researcher#2', 'Research Manager#1', 'Oracle#1'].map((node) => `AAPL/${node}/model#1`)
  const steps = [...paths, 'sizing#1/order#1', 'close#1/order#1', 'pre#1/order#1'].map((path, index) => step(path, index, index + 1))
  const nodes = nodesOf(TABLE, steps, [], [], false)
  expect(nodes.map((node) => node.scope)).toEqual(['pre#1', ...paths.map((path) => path.slice(0, path.lastIndexOf('/'))), 'sizing#1', 'close#1'])
  expect(nodes.map((node) => node.phase).slice(5)).toEqual(['research', null, 'orders', 'books'])
  expect(TABLE.phases).toEqual(['analyst', 'research', 'trading', 'risk', 'portfolio', 'orders'])
})
