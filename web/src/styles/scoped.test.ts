// Goal: the global style sheets hold what several rooms share. What one feature alone uses is in its CSS module.
import { expect, it } from 'vitest'

const sheets = import.meta.glob<string>('./*.css', { query: '?raw', import: 'default', eager: true })
const sources = import.meta.glob<string>(['../**/*.{ts,tsx}', '!../**/*.test.{ts,tsx}'], { query: '?raw', import: 'default', eager: true })

/** The feature that a file is part of; otherwise the file itself. */
const room = (path: string) => /^\.\.\/features\/\w+/.exec(path)?.[0] ?? path

/** The names of classes in the selectors of a sheet. */
function classNames(css: string): string[] {
  const selectors = css.replace(/\/\*[\s\S]*?\*\//g, '').match(/[^{};]+(?=\{)/g) ?? []
  return selectors.flatMap((selector) => [...selector.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name = '']) => name))
}

/** The words of string literals and templates, by room: every class that is set is one of them. */
const words = new Map<string, Set<string>>()
for (const [path, source] of Object.entries(sources)) {
  const found = words.get(room(path)) ?? new Set()
  for (const word of source.match(/[A-Za-z][\w-]*/g) ?? []) found.add(word)
  words.set(room(path), found)
}

it('has no class of a single feature in a global sheet', () => {
  const names = new Set(Object.values(sheets).flatMap(classNames))
  expect(names.size).toBeGreaterThan(100)
  const alone = [...names].flatMap((name) => {
    const rooms = [...words].filter(([, found]) => found.has(name)).map(([of]) => of)
    return rooms.length === 1 && rooms[0]?.startsWith('../features/') ? [`.${name}: only ${rooms[0]}`] : []
  })
  expect(alone).toEqual([])
})
