import { expect, it } from 'vitest'
import { NODES } from '@/test/nodes'
import { cutsOf } from './branch'

it('suggests only the nodes of this kind of agent', () => {
  expect(cutsOf(NODES, 'solo', ['IBM'])).toEqual(['pre#1', 'solo#1', 'bar#1', 'close#1', 'post#1'])
  expect(cutsOf(NODES, 'external', ['IBM'])).toEqual(['pre#1', 'external#1', 'bar#1', 'close#1', 'post#1'])
  const desk = cutsOf(NODES, 'desk', ['IBM', 'AAPL'])
  expect(desk.slice(0, 3)).toEqual(['pre#1', 'IBM', 'IBM/Market Analyst#1'])
  expect(desk.filter((cut) => !cut.startsWith('IBM/') && !cut.startsWith('AAPL/'))).toEqual(['pre#1', 'IBM', 'AAPL', 'sizing#1', 'bar#1', 'close#1', 'post#1'])
  expect(desk).toContain('AAPL/Portfolio Manager#1')
})
