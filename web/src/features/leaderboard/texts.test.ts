import { expect, it } from 'vitest'
import { unusedKeys } from '@/test/usedKeys'
import { TEXTS } from './texts'

it('has no text that the leaderboard does not use', () => {
  const sources = import.meta.glob<string>(['./*.{ts,tsx}', '!./texts.ts', '!./*.test.*'], { query: '?raw', import: 'default', eager: true })
  expect(unusedKeys(Object.keys(TEXTS.en), Object.values(sources))).toEqual([])
})
