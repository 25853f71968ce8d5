import { expect, it } from 'vitest'
import { dataPlace, nameOf, scopeOf } from './places'

it('reads where a step stands', () => {
  expect(scopeOf('AAPL/Bull Researcher#2/model#1')).toBe('AAPL/Bull Researcher#2')
  expect(nameOf('AAPL/Bull Researcher#2/model#1')).toBe('Bull Researcher')
  expect([scopeOf('x'), nameOf('x')]).toEqual(['', ''])
})

it('finds the rows that a series has shown', () => {
  expect(dataPlace('d', 'AAPL/bars', '2012-01-03', '2012-09-28')).toEqual({ dataset: 'd', symbol: 'AAPL', day: '2012-09-28', from: '2012-01-03', to: '2012-09-28' })
  expect(dataPlace('d', 'AAPL/open', '2012-10-01', '2012-10-01')).toEqual({ dataset: 'd', symbol: 'AAPL', day: '2012-10-01' })
  expect(dataPlace('d', 'AAPL/bars/1h', '2012-10-01', '2012-10-02')).toMatchObject({ symbol: 'AAPL', from: '2012-10-01' })
  expect(dataPlace('d', 'news', null, null)).toEqual({ dataset: 'd', tab: 'news' })
  expect(dataPlace('d', 'AAPL/news', null, null)).toEqual({ dataset: 'd', tab: 'news', symbol: 'AAPL' })
  expect(dataPlace('d', 'macro/CPIAUCSL', null, null)).toEqual({ dataset: 'd', tab: 'macros', series: 'CPIAUCSL' })
  expect(dataPlace('d', 'calendar', null, null)).toEqual({ dataset: 'd' })
})
