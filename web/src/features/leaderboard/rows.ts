// What the rows of a board are sorted and drawn by. No React.
import type { LeaderboardEntry } from '@/server/types'

/** The maximum number of entries that a comparison shows. */
const MAX_COMPARED = 6

/** The ranks that an entry can have: `1`, or `1–3`. */
export function rankText({ rank }: LeaderboardEntry): string | null {
  if (!rank) return null
  return rank.best === rank.worst ? String(rank.best) : `${rank.best}–${rank.worst}`
}

/** Sorts by the best rank, then by the worst. Entries without a rank have no value. */
export function rankOf({ rank }: LeaderboardEntry): number | null {
  return rank ? rank.best + rank.worst / 1000 : null
}

/** The newest runs of the first entries, as items of a comparison. */
export function compareItems(entries: readonly LeaderboardEntry[]): string[] {
  const items = entries.flatMap(({ agent, job_ids: [newest] }) => (agent && newest !== undefined ? [`job:${newest}/${agent}`] : []))
  return items.slice(0, MAX_COMPARED)
}

/** The largest distance from zero of all returns and their intervals. */
export function scaleOf(entries: readonly LeaderboardEntry[]): number {
  const ends = entries.flatMap(({ total_return: value, interval }) => [value ?? 0, interval?.low ?? 0, interval?.high ?? 0])
  return Math.max(1e-6, ...ends.map(Math.abs))
}
