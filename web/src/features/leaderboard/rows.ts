// What the rows of a board are sorted and drawn by. No React.
import type { Experiment, LeaderboardEntry } from '@/server/types'

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

/** The plans of experiments, by their ID. */
export type ExperimentPlans = ReadonlyMap<string, Pick<Experiment, 'jobs'>>

/** The only experiment that an entry's jobs are of. Other jobs of the entry may be of none. */
export function experimentOf({ experiment_ids: ids }: LeaderboardEntry): string | undefined {
  return ids.length === 1 ? ids[0] : undefined
}

/**
 * The entry as an item of a comparison: its experiment with all trials if that has exactly the days of the board and
 * all jobs of the entry, otherwise its newest run. A baseline is no item.
 */
export function itemOf(entry: LeaderboardEntry, plans: ExperimentPlans): string | null {
  const { agent, job_ids: ids } = entry
  const newest = ids[0]
  if (!agent || newest === undefined) return null
  const id = experimentOf(entry)
  const jobs = id === undefined ? undefined : plans.get(id)?.jobs
  const own = jobs?.find((job) => job.job_id === newest)
  const isWhole = own !== undefined && jobs?.every((job) => job.window === own.window) === true && ids.every((one) => jobs.some((job) => job.job_id === one))
  if (!isWhole) return `job:${newest}/${agent}`
  return `experiment:${id}/${agent}${own.mask == null ? '' : `@${own.mask}`}`
}

/** The first entries, as items of a comparison. */
export function compareItems(entries: readonly LeaderboardEntry[], plans: ExperimentPlans): string[] {
  return entries.flatMap((entry) => itemOf(entry, plans) ?? []).slice(0, MAX_COMPARED)
}

/** The largest distance from zero of all returns and their intervals. */
export function scaleOf(entries: readonly LeaderboardEntry[]): number {
  const ends = entries.flatMap(({ total_return: value, interval }) => [value ?? 0, interval?.low ?? 0, interval?.high ?? 0])
  return Math.max(1e-6, ...ends.map(Math.abs))
}
