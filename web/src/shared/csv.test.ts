// Goal: every value survives in a CSV file, and none becomes a formula.
import { expect, it } from 'vitest'
import { toCsv } from './csv'

it('quotes what must be quoted', () => {
  const rows = [['a,b', 'say "hi"', 'two\nlines', 'plain'], [1.5, null, undefined, Number.NaN]]
  expect(toCsv(['x', 'y', 'z', 'w'], rows)).toBe('x,y,z,w\r\n"a,b","say ""hi""","two\nlines",plain\r\n1.5,,,\r\n')
})

it('defuses formulas and leaves negative numbers', () => {
  expect(toCsv(['n'], [['=1+1'], ['+cmd'], ['-x'], ['@sum'], [-2]])).toBe("n\r\n'=1+1\r\n'+cmd\r\n'-x\r\n'@sum\r\n-2\r\n")
})
