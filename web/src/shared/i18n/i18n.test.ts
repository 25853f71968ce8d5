import { expect, it } from 'vitest'
import { isTextKey, translate } from '.'
import { en } from './en'
import { zh } from './zh'

const places = (text: string) => [...new Set([...text.matchAll(/\{(\w+)(?::[^}]*)?\}/g)].map((found) => found[1]))].sort()

it('has every text in both languages, with the same places to fill', () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
  for (const [key, text] of Object.entries(en)) {
    const other = zh[key as keyof typeof en]
    expect(text.trim(), key).not.toBe('')
    expect(other.trim(), key).not.toBe('')
    expect(places(other), key).toEqual(places(text))
  }
})

it('has a text for every key that is named in the pages', async () => {
  const sources = import.meta.glob<string>('../../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })
  const missing = Object.entries(sources).flatMap(([file, source]) =>
    [...source.matchAll(/\bt\('([\w. ]+)'/g)].flatMap((found) => (found[1] && !isTextKey(found[1]) ? [`${file}: ${found[1]}`] : [])),
  )
  expect(missing).toEqual([])
})

it('fills the places, and leaves what it is not given', () => {
  expect(translate('en', 'runs.failed', { count: 3 })).toBe('3 failed')
  expect(translate('zh', 'runs.failed', { count: 3 })).toBe('3 个失败')
  expect(translate('en', 'runs.failed')).toBe('{count} failed')
})

it('writes numbers as the language does, and goes by the count', () => {
  expect(translate('en', 'transcript.count', { count: 30_000 })).toBe('30,000 messages')
  expect(translate('en', 'transcript.count', { count: 1 })).toBe('1 message')
  expect(translate('zh', 'transcript.count', { count: 30_000 })).toBe('30,000 条消息')
})
