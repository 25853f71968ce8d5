// Who read market data in a session: the agent before it decided, the agent after the close, or the books. No React.
import type { Exposure } from '@/server/types'
import { placeOf } from './desk'

/** The phases in which the books read: they fill orders and value positions. */
const BOOKS = new Set(['pre', 'bar', 'close'])

/** Whether a step belongs to the books and not to the agent. */
export function isBooks(path: string): boolean {
  const { symbol, name } = placeOf(path)
  return symbol === null && BOOKS.has(name)
}

export interface Readers {
  agent: Exposure[]
  /** After the close, when the agent writes its memories. */
  after: Exposure[]
  books: Exposure[]
}

export function readers(reads: Exposure[]): Readers {
  const found: Readers = { agent: [], after: [], books: [] }
  for (const read of reads) {
    const { name } = placeOf(read.path)
    found[isBooks(read.path) ? 'books' : name === 'post' ? 'after' : 'agent'].push(read)
  }
  return found
}

/** When the newest of the reads became known. */
export function newestOf(reads: Exposure[]): string | null {
  return reads.reduce<string | null>((newest, { latest_known_at: at }) => (at != null && (newest === null || at > newest) ? at : newest), null)
}
