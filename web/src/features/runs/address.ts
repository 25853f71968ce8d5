// The list's search, filters and order, as they are in the address.
import type { RunListQuery } from '@/server/runList'
import { oneOf } from '@/shared/oneOf'

export const STATUSES = ['queued', 'running', 'completed', 'partial', 'failed', 'cancelled'] as const
export const QUALITIES = ['ok', 'degraded'] as const
export const SORTS = ['created', 'name', 'status', 'dataset', 'model', 'start_date', 'quality'] as const
export type Sort = (typeof SORTS)[number]

export type Order = Sort | `-${Sort}`
const ORDERS = SORTS.flatMap((sort): Order[] => [sort, `-${sort}`])

/** Newest first. */
export const DEFAULT_ORDER: Order = '-created'

export interface RunsSearch extends RunListQuery {
  new?: boolean | undefined
}

/** The router reads `search=2012` as a number. */
const text = (value: unknown) => (value === undefined || value === null || value === '' || typeof value === 'object' ? undefined : String(value))
const day = (value: unknown) => (typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) ? value : undefined)

/** What the address says. Values that the server would reject are dropped. */
export function parseRunsSearch(search: Record<string, unknown>): RunsSearch {
  const sort = oneOf(search.sort, ORDERS)
  return {
    new: search.new ? true : undefined,
    search: text(search.search)?.slice(0, 200),
    status: oneOf(search.status, STATUSES),
    tag: text(search.tag),
    model: text(search.model),
    dataset: text(search.dataset),
    quality: oneOf(search.quality, QUALITIES),
    from: day(search.from),
    to: day(search.to),
    sort: sort === DEFAULT_ORDER ? undefined : sort,
  }
}

/** The parameters of the request. */
export function queryOf(search: RunsSearch): RunListQuery {
  const query = { ...search }
  delete query.new
  return query
}

/** Whether any run may be left out. */
export function isFiltered(search: RunsSearch): boolean {
  return Object.values({ ...queryOf(search), sort: undefined }).some((value) => value !== undefined)
}

/** The order of a column: `ascending`, `descending`, or neither. */
export function orderOf(sort: Sort, order: Order | undefined): 'ascending' | 'descending' | 'none' {
  const current = order ?? DEFAULT_ORDER
  if (current === sort) return 'ascending'
  return current === `-${sort}` ? 'descending' : 'none'
}

/** The order after a click on a column's head. Newest and worst come first, everything else from A to Z. */
export function nextOrder(sort: Sort, order: Order | undefined): Order | undefined {
  const down = sort === 'created' || sort === 'quality'
  const now = orderOf(sort, order)
  const next = now === 'none' ? down : now === 'ascending'
  const found: Order = next ? `-${sort}` : sort
  return found === DEFAULT_ORDER ? undefined : found
}
