import { expect, it } from 'vitest'
import { dataAddress, nameOf, scopeOf } from './places'

it('parses a step’s scope and node', () => {
  expect(scopeOf('AAPL/Bull Researcher#2/model#1')).toBe('AAPL/Bull Researcher#2')
  expect(nameOf('AAPL/Bull Researcher#2/model#1')).toBe('Bull Researcher')
  expect([scopeOf('x'), nameOf('x')]).toEqual(['', ''])
})

it('addresses the rows that were read from a series', () => {
  expect(dataAddress('d', 'AAPL/bars', '2012-01-03', '2012-09-28')).toEqual({ dataset: 'd', symbol: 'AAPL', day: '2012-09-28', from: '2012-01-03', to: '2012-09-28' })
  expect(dataAddress('d', 'AAPL/open', '2012-10-01', '2012-10-01')).toEqual({ dataset: 'd', symbol: 'AAPL', day: '2012-10-01' })
  expect(dataAddress('d', 'AAPL/bars/1h', '2012-10-01', '2012-10-02')).toMatchObject({ symbol: 'AAPL', from: '2012-10-01' })
  expect(dataAddress('d', 'news', null, null)).toEqual({ dataset: 'd', tab: 'news' })
  expect(dataAddress('d', 'AAPL/news', null, null)).toEqual({ dataset: 'd', tab: 'news', symbol: 'AAPL' })
  expect(dataAddress('d', 'macro/CPIAUCSL', null, null)).toEqual({ dataset: 'd', tab: 'macros', series: 'CPIAUCSL' })
  expect(dataAddress('d', 'calendar', null, null)).toEqual({ dataset: 'd' })
})
