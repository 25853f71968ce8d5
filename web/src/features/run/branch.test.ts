import { expect, it } from 'vitest'
import { NODES } from '@/test/nodes'
import { cutsOf, toBranchCommand } from './branch'

it('builds the equivalent command and quotes its values', () => {
  const branch = { date: '2012-10-17', agent: "the desk's", node: 'AAPL/Bull Researcher#1', model: 'house::contrarian', instructions: 'Sell $HOME; now', sampling: null }
  expect(toBranchCommand('j-1', branch)).toBe(
    "papertape branch j-1 --date 2012-10-17 --agent 'the desk'\\''s' --at 'AAPL/Bull Researcher#1' --model house::contrarian --instructions 'Sell $HOME; now'",
  )
  expect(toBranchCommand('j-1', { date: '2012-10-17' })).toBe('papertape branch j-1 --date 2012-10-17')
  expect(toBranchCommand('j-1', { date: '2012-10-17', sampling: { temperature: 0 } })).toBeNull()
})

it('suggests only the nodes of this kind of agent', () => {
  expect(cutsOf(NODES, 'solo', ['IBM'])).toEqual(['pre#1', 'solo#1', 'bar#1', 'close#1', 'post#1'])
  expect(cutsOf(NODES, 'external', ['IBM'])).toEqual(['pre#1', 'external#1', 'bar#1', 'close#1', 'post#1'])
  const desk = cutsOf(NODES, 'desk', ['IBM', 'AAPL'])
  expect(desk.slice(0, 3)).toEqual(['pre#1', 'IBM', 'IBM/Market Analyst#1'])
  expect(desk.filter((cut) => !cut.startsWith('IBM/') && !cut.startsWith('AAPL/'))).toEqual(['pre#1', 'IBM', 'AAPL', 'sizing#1', 'bar#1', 'close#1', 'post#1'])
  expect(desk).toContain('AAPL/Portfolio Manager#1')
})
