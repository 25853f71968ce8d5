// Which keys of a text table the source uses.

/** A key with one part that the source inserts, such as `quality.${state}` or `preset.${name}.what`. */
const TEMPLATE = /`((?:[\w ]+\.)+)\$\{[^{}`]*\}((?:\.\w+)*)`/g
/** A call that takes a group of keys and a code of the API, such as `word('status', job.status)`. */
const GROUP = /\b(?:word|codeText|codeOr)\((?:\w+, )?'([\w.]+)',/g

/** Keys that none of the sources uses, neither in full nor as one of a group. */
export function unusedKeys(keys: readonly string[], sources: readonly string[]): string[] {
  const source = sources.join('\n')
  const templates = [...source.matchAll(TEMPLATE)].map(([, prefix = '', suffix = '']) => ({ prefix, suffix }))
  const groups = [...source.matchAll(GROUP)].map(([, group]) => ({ prefix: `${group}.`, suffix: '' }))
  const inserted = [...templates, ...groups]
  const isInserted = (key: string) =>
    inserted.some(({ prefix, suffix }) => key.startsWith(prefix) && key.endsWith(suffix) && /^[^.]+$/.test(key.slice(prefix.length, key.length - suffix.length)))
  return keys.filter((key) => !source.includes(`'${key}'`) && !isInserted(key))
}
