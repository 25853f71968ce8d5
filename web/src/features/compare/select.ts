// The items of a comparison, as the address and `GET /compare` name them. No React.
import type { ComparedItem, ComparedPair, Job } from '@/server/types'

/** More lines than this cannot be told apart. The server's own limit is higher. */
export const MAX_ITEMS = 6
export const MIN_ITEMS = 2

/** What a comparison may declare as varied. */
export const VARIED = ['model', 'prompt', 'costs', 'mask'] as const

export const BASELINES = ['baseline:buy_and_hold', 'baseline:equal_weight', 'baseline:random'] as const

/** The search parameters of the page: those of `GET /compare`, and what is selected of the response. */
export interface CompareSearch {
  select?: string | undefined
  against?: string | undefined
  vary?: string | undefined
  points?: number | undefined
  /** The index of the selected pair. */
  pair?: number | undefined
  day?: string | undefined
}

/** A list from a search parameter. */
export function listOf(text: string | undefined): string[] {
  return [...new Set((text ?? '').split(',').map((one) => one.trim()).filter(Boolean))]
}

/** The list with the item added, or removed if it is in it. */
export function toggled(items: readonly string[], item: string): string[] {
  return items.includes(item) ? items.filter((one) => one !== item) : [...items, item]
}

/** The name of an agent of a job, as an item. */
export function agentItem(jobId: string, agent: string): string {
  return `job:${jobId}/${agent}`
}

/** An item's kind, and the ID and agent that it names. */
export function parseItem(item: string): { kind: string; id: string; agent: string | null } {
  const [, kind = '', rest = ''] = /^(\w+)(?::(.*))?$/s.exec(item) ?? []
  const cut = kind === 'job' || kind === 'experiment' ? rest.indexOf('/') : -1
  return { kind, id: cut < 0 ? rest : rest.slice(0, cut), agent: cut < 0 ? null : rest.slice(cut + 1) }
}

/** The agent of the parent, if one item is a branch and no other is of its parent. */
export function parentOf(items: readonly string[], jobs: readonly Job[]): string | null {
  for (const item of items) {
    const { kind, id, agent } = parseItem(item)
    const simulation = kind === 'job' ? jobs.find((job) => job.job_id === id)?.simulation : undefined
    const parent = simulation?.branch?.job_id
    // A branch has one agent; its parent may have more.
    const name = agent ?? simulation?.agents[0]?.name
    if (parent !== undefined && name !== undefined && !items.some((other) => parseItem(other).id === parent)) return agentItem(parent, name)
  }
  return null
}

/** The item that a pair or a test names. */
export function itemOf(items: readonly ComparedItem[], id: string): ComparedItem | undefined {
  return items.find((item) => item.id === id)
}

/** The pair that the address selects, otherwise the first one. */
export function selectedPair(pairs: readonly ComparedPair[], index: number | undefined): ComparedPair | undefined {
  return pairs[index ?? 0] ?? pairs[0]
}

/** The days of all items, oldest first. */
export function daysOf(items: readonly ComparedItem[]): string[] {
  const days = new Set<string>()
  for (const item of items) {
    if (item.kind === 'agent') for (const point of item.curve) days.add(point.date)
  }
  return [...days].sort()
}
