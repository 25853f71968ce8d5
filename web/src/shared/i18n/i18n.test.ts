import { expect, it } from 'vitest'
import { unusedKeys } from '@/test/usedKeys'
import { isTextKey, translate } from '.'
import { en } from './en'
import { zh } from './zh'

const placeholders = (text: string) => [...new Set([...text.matchAll(/\{(\w+)(?::[^}]*)?\}/g)].map((found) => found[1]))].sort()

it('has every text in both languages, with the same placeholders', () => {
  expect(Object.keys(zh).sort()).toEqual(Object.keys(en).sort())
  for (const [key, text] of Object.entries(en)) {
    const chinese = zh[key as keyof typeof en]
    expect(text.trim(), key).not.toBe('')
    expect(chinese.trim(), key).not.toBe('')
    expect(placeholders(chinese), key).toEqual(placeholders(text))
  }
})

const SOURCES = import.meta.glob<string>('../../**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true })

it('has a text for every key used in the source', () => {
  const missing = Object.entries(SOURCES).flatMap(([file, source]) =>
    [...source.matchAll(/\bt\('([\w. ]+)'/g)].flatMap((found) => (found[1] && !isTextKey(found[1]) ? [`${file}: ${found[1]}`] : [])),
  )
  expect(missing).toEqual([])
})

it('has no text that the source does not use', () => {
  const sources = Object.entries(SOURCES).flatMap(([file, source]) => (/(^\.\/(en|zh)\.)|\/(en|zh)(\.\w+)?\.ts$|\.test\.|\/test\/|schema\.d/.test(file) ? [] : [source]))
  expect(unusedKeys(Object.keys(en), sources)).toEqual([])
  expect(unusedKeys(['status.queued', 'preset.quick.what', 'nav.runs', 'nav.nowhere', 'status.a.b', 'preset.quick.which'], sources)).toEqual(['nav.nowhere', 'status.a.b', 'preset.quick.which'])
})

it('fills placeholders and leaves those without a value', () => {
  expect(translate('en', 'runs.failed', { count: 3 })).toBe('3 failed')
  expect(translate('zh', 'runs.failed', { count: 3 })).toBe('3 个失败')
  expect(translate('en', 'runs.failed')).toBe('{count} failed')
})

it('formats numbers for the locale and chooses plural forms', () => {
  expect(translate('en', 'transcript.count', { count: 30_000 })).toBe('30,000 messages')
  expect(translate('en', 'transcript.count', { count: 1 })).toBe('1 message')
  expect(translate('zh', 'transcript.count', { count: 30_000 })).toBe('30,000 条消息')
})
