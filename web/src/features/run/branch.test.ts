import { expect, it } from 'vitest'
import { nodesOf, toBranchCommand } from './branch'

it('builds the equivalent command and quotes its values', () => {
  const branch = { date: '2012-10-17', agent: "the desk's", node: 'AAPL/Bull Researcher#1', model: 'house::contrarian', instructions: 'Sell $HOME; now', sampling: null }
  expect(toBranchCommand('j-1', branch)).toBe(
    "papertape branch j-1 --date 2012-10-17 --agent 'the desk'\\''s' --at 'AAPL/Bull Researcher#1' --model house::contrarian --instructions 'Sell $HOME; now'",
  )
  expect(toBranchCommand('j-1', { date: '2012-10-17' })).toBe('papertape branch j-1 --date 2012-10-17')
  expect(toBranchCommand('j-1', { date: '2012-10-17', sampling: { temperature: 0 } })).toBeNull()
})

it('suggests the nodes of a desk and of a solo agent', () => {
  expect(nodesOf(['IBM'], 'desk:house::momentum').slice(0, 2)).toEqual(['IBM', 'IBM/Market Analyst#1'])
  expect(nodesOf(['IBM'], 'house::momentum')).toEqual(['solo#1', 'post#1'])
})
