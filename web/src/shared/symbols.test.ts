import { expect, it } from 'vitest'
import { translate } from './i18n'
import { symbolsOf, tradedOf } from './symbols'

// Goal: the heading stays short for a run over a whole market.
it('lists a few symbols and counts the rest', () => {
  const many = Array.from({ length: 101 }, (_, at) => `S${at}`)
  const [en, zh] = (['en', 'zh'] as const).map((language) => (symbols: string[]) => symbolsOf(symbols, (key, values) => translate(language, key, values)))
  expect(en?.(many.slice(0, 8))).toBe('S0, S1, S2, S3, S4, S5, S6, S7')
  expect(en?.(many)).toBe('S0, S1, S2, S3, S4, S5 and 95 more')
  expect(zh?.(many)).toBe('S0, S1, S2, S3, S4, S5 及其他 95 个标的')
  expect(en?.([])).toBe('')
})

// Goal: the heading of a run over an index names the index, not all of its past and present members.
it('names the index of a universe', () => {
  const [en, zh] = (['en', 'zh'] as const).map((language) => (universe?: string) => tradedOf({ symbols: ['A', 'B'], ...(universe && { universe }) }, (key, values) => translate(language, key, values)))
  expect(en?.('SP500')).toBe('SP500 members')
  expect(zh?.('SP500')).toBe('SP500 成分股')
  expect(en?.()).toBe('A, B')
})
