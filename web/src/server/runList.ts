// The list of runs, which the server searches, filters and sorts.
import { infiniteQueryOptions } from '@tanstack/react-query'
import { type QueryOf, read } from './client'
import type { Job } from './types'

/** Which runs, and in which order. */
export type RunListQuery = Omit<QueryOf<'/jobs'>, 'kind' | 'limit' | 'cursor'>

/** The first page is small, so that it is visible soon. */
const FIRST_PAGE = 50
const PAGE = 200
/** A list of more pages is not read again in the background. */
const MAX_REFRESHED_PAGES = 2

const readPage = (query: RunListQuery, cursor: string | undefined, limit: number, signal?: AbortSignal) =>
  read('/jobs', {}, { ...query, kind: 'simulate', limit, cursor }, signal)

const isShort = (query: { state: { data?: { pages: unknown[] } | undefined } }) => (query.state.data?.pages.length ?? 0) <= MAX_REFRESHED_PAGES

export const runList = (query: RunListQuery) =>
  infiniteQueryOptions({
    queryKey: ['jobs', 'list', query],
    queryFn: ({ pageParam, signal }) => readPage(query, pageParam, pageParam === undefined ? FIRST_PAGE : PAGE, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: (query) => (isShort(query) ? 20_000 : false),
    refetchOnWindowFocus: isShort,
    refetchOnMount: isShort,
  })

/** All runs of a query, page by page. */
export async function readAllRuns(query: RunListQuery): Promise<Job[]> {
  const all: Job[] = []
  let cursor: string | undefined
  do {
    const page = await readPage(query, cursor, PAGE)
    all.push(...page.jobs)
    cursor = page.next_cursor ?? undefined
  } while (cursor)
  return all
}
