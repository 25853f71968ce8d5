// Who read market data in a session: the agent before it decided, the agent after the close, or the books. No React.
import type { Exposure } from '@/server/types'
import { type NodeTable, placeOf } from './desk'

/** The phase of a step. A node of a symbol is never one of the books or of the memory. */
export function phaseOf(table: NodeTable, path: string): string | undefined {
  const { symbol, name } = placeOf(path)
  return symbol === null ? table.of(name)?.phase : undefined
}

export interface Readers {
  agent: Exposure[]
  /** After the close, when the agent writes its memories. */
  after: Exposure[]
  books: Exposure[]
}

export function readers(table: NodeTable, reads: Exposure[]): Readers {
  const found: Readers = { agent: [], after: [], books: [] }
  for (const read of reads) {
    const phase = phaseOf(table, read.path)
    found[phase === 'books' ? 'books' : phase === 'memory' ? 'after' : 'agent'].push(read)
  }
  return found
}

/** When the newest of the reads became known. */
export function newestOf(reads: Exposure[]): string | null {
  return reads.reduce<string | null>((newest, { latest_known_at: at }) => (at != null && (newest === null || at > newest) ? at : newest), null)
}

export interface SeriesReads {
  series: string
  reads: number
  rows: number
  first: string | null
  last: string | null
  known: string | null
  paths: string[]
}

/** Groups reads by series. */
export function bySeries(exposures: Exposure[]): SeriesReads[] {
  const found = new Map<string, SeriesReads>()
  for (const one of exposures) {
    const known = found.get(one.series)
    const entry = known ?? { series: one.series, reads: 0, rows: 0, first: null, last: null, known: null, paths: [] }
    if (!known) found.set(one.series, entry)
    entry.reads += 1
    entry.rows = Math.max(entry.rows, one.rows)
    if (one.first_date && (!entry.first || one.first_date < entry.first)) entry.first = one.first_date
    if (one.last_date && (!entry.last || one.last_date > entry.last)) entry.last = one.last_date
    if (one.latest_known_at && (!entry.known || one.latest_known_at > entry.known)) entry.known = one.latest_known_at
    entry.paths.push(one.path)
  }
  return [...found.values()]
}
