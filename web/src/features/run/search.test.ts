import { expect, it } from 'vitest'
import { parseRunSearch, withoutBranch } from './search'

it('parses what is selected, and omits defaults and what it does not know', () => {
  const selected = { tab: 'trades', agent: 'house::momentum', symbol: 'IBM', scope: 'all', benchmark: 'SPX', days: 'full' }
  expect(parseRunSearch(selected)).toMatchObject(selected)
  expect(parseRunSearch({ tab: 'performance', scope: 'symbol', days: 'all', symbol: '', agent: {} })).toEqual({})
  // A symbol of digits, in an address without quotes.
  expect(parseRunSearch({ symbol: 600519 }).symbol).toBe('600519')
})

it('keeps the selected agent when the branch form closes', () => {
  expect(withoutBranch({ tab: 'trades', branch: true, agent: 'a', date: '2012-10-01', node: 'solo#1', symbol: 'IBM' })).toEqual({ tab: 'trades', agent: 'a', symbol: 'IBM' })
})
