// A unified diff of two texts. No React.

/** Unchanged lines around a change. */
const CONTEXT = 2
/** The largest table of the comparison, in cells. Beyond it, the texts count as entirely different. */
const MAX_CELLS = 4_000_000
/** A line longer than this is split after its sentences, because models write paragraphs. */
const LONG_LINE = 120

/** The lines of a text. Long ones are split into sentences. */
export function linesOf(text: string): string[] {
  return text.split('\n').flatMap((line) => (line.length > LONG_LINE ? line.split(/(?<=[.!?。！？;；])\s*(?=\S)/u) : [line]))
}

interface Change {
  mark: ' ' | '-' | '+'
  line: string
}

/** Every line of both, in order. */
function changesOf(a: string[], b: string[]): Change[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1
  const same = (lines: string[]): Change[] => lines.map((line) => ({ mark: ' ', line }))
  return [...same(a.slice(0, start)), ...middleOf(a.slice(start, a.length - end), b.slice(start, b.length - end)), ...same(a.slice(a.length - end))]
}

/** By the longest common subsequence. */
function middleOf(a: string[], b: string[]): Change[] {
  const changes: Change[] = []
  const removed = (line: string) => changes.push({ mark: '-', line })
  const added = (line: string) => changes.push({ mark: '+', line })
  if (a.length * b.length > MAX_CELLS) {
    a.forEach(removed)
    b.forEach(added)
    return changes
  }
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left !== undefined && left === right) {
      changes.push({ mark: ' ', line: left })
      i += 1
      j += 1
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      removed(left)
      i += 1
    } else if (right !== undefined) {
      added(right)
      j += 1
    }
  }
  return changes
}

/** The changed lines with some context, each with its mark; gaps are `@@`. Empty if the texts are equal. */
export function diffOf(before: string, after: string): string[] {
  const changes = changesOf(linesOf(before), linesOf(after))
  const near = new Set<number>()
  changes.forEach(({ mark }, index) => {
    if (mark !== ' ') for (let other = index - CONTEXT; other <= index + CONTEXT; other += 1) near.add(other)
  })
  if (near.size === 0) return []
  const lines: string[] = []
  let isGap = false
  changes.forEach(({ mark, line }, index) => {
    if (near.has(index)) lines.push(`${mark}${line}`)
    else if (!isGap) lines.push('@@')
    isGap = !near.has(index)
  })
  return lines
}
