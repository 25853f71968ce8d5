// Queries and mutations that judge runs: comparisons, experiments, audits and the search in conversations.
import { infiniteQueryOptions, keepPreviousData, queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { address, ApiError, read, send } from './client'
import { type ExperimentChanged, hasStopped, type LimitBody, type Message } from './types'

/** The parameters of `GET /compare`. */
export interface CompareParameters {
  /** Items, separated by commas. */
  select: string
  against?: string | undefined
  vary?: string | undefined
  points?: number | undefined
}

export const comparison = (parameters: CompareParameters) =>
  queryOptions({
    queryKey: ['comparison', parameters],
    queryFn: ({ signal }) => read('/compare', {}, parameters, signal),
    staleTime: 60_000,
    retry: 1,
  })

export const experiments = () =>
  infiniteQueryOptions({
    queryKey: ['experiments'],
    queryFn: ({ pageParam, signal }) => read('/experiments', {}, { limit: 40, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: (query) => {
      const found = query.state.data?.pages.flatMap((page) => page.experiments) ?? []
      return found.some((one) => !hasStopped(one.status)) ? 4000 : 20_000
    },
  })

export const experiment = (id: string) =>
  queryOptions({
    queryKey: ['experiment', id, 'plan'],
    queryFn: ({ signal }) => read('/experiments/{experiment_id}', { experiment_id: id }, undefined, signal),
    refetchInterval: (query) => (query.state.data && !hasStopped(query.state.data.experiment.status) ? 3000 : false),
  })

export const experimentResults = (id: string, running: boolean) =>
  queryOptions({
    queryKey: ['experiment', id, 'results'],
    queryFn: ({ signal }) => read('/experiments/{experiment_id}/results', { experiment_id: id }, undefined, signal),
    refetchInterval: running ? 6000 : false,
  })

/** Stops or resumes all jobs of an experiment. */
export function useExperimentControl(id: string) {
  const client = useQueryClient()
  const onSettled = () => Promise.all([client.invalidateQueries({ queryKey: ['experiment', id] }), client.invalidateQueries({ queryKey: ['experiments'] })])
  const cancel = useMutation({
    mutationFn: () => send<ExperimentChanged>('POST', address('/experiments/{id}/cancel', { id })),
    onSettled,
  })
  const resume = useMutation({
    mutationFn: (budget: LimitBody | null) => send<ExperimentChanged>('POST', address('/experiments/{id}/resume', { id }), budget === null ? {} : { budget }),
    onSettled,
  })
  return { cancel, resume }
}

/** The sessions per page of an audit. Each request runs them again, so a page is small. */
const AUDIT_PAGE = 20

/** A job's audit, which runs its sessions again: fetched only on request. `null` if the job has nothing to audit. */
export const audit = (jobId: string) =>
  infiniteQueryOptions({
    queryKey: ['audit', jobId],
    queryFn: async ({ pageParam, signal }) => {
      try {
        return await read('/jobs/{job_id}/audit', { job_id: jobId }, { limit: AUDIT_PAGE, cursor: pageParam }, signal)
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) return null
        throw error
      }
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page?.next_cursor ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })

/** A session with the messages that contain all words of a search. */
export interface SearchHit {
  words: string
  session_id: number
  job_id: string
  date: string
  model: string
  messages: Message[]
  /** Whether its messages are being read, were read, or are too many to read all of them. */
  search: 'reading' | 'done' | 'cut'
}

/** Sessions per search, and messages shown of each. */
const MAX_SESSIONS = 8
const MAX_HITS = 3
/** Messages per page, and pages read of each session to find the hits. */
const SEARCHED_PAGE = 1000
const MAX_PAGES = 50
export const MAX_SEARCHED = MAX_PAGES * SEARCHED_PAGE

/** Sessions in which one message has all these words, with the first of these messages. */
export const messageSearch = (words: string) =>
  queryOptions({
    queryKey: ['search', words],
    enabled: words !== '',
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal, client, queryKey }): Promise<SearchHit[]> => {
      const found = await read('/reasoning', {}, { q: words, limit: MAX_SESSIONS }, signal).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 404) return null
        throw error
      })
      const hits = (found?.sessions ?? []).map(({ session_id, job_id, date, model }): SearchHit => ({ words, session_id, job_id, date, model, messages: [], search: 'reading' }))
      // Long sessions take longer: show each hit as soon as its messages are found.
      await Promise.all(
        hits.map(async (hit) => {
          const messages = await findMessages(hit.session_id, words, signal)
          hit.messages = messages ?? []
          hit.search = messages ? 'done' : 'cut'
          if (!signal.aborted) client.setQueryData(queryKey, hits.map((one) => ({ ...one })))
        }),
      )
      return hits
    },
  })

/** The first messages of a session that contain all words: reads pages until one has any. `null` if there are too many. */
async function findMessages(session: number, words: string, signal: AbortSignal): Promise<Message[] | null> {
  let cursor: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page = await read('/sessions/{session_id}/messages', { session_id: session }, { limit: SEARCHED_PAGE, cursor }, signal)
    const hits = matching(page.messages, words).slice(0, MAX_HITS)
    if (hits.length > 0 || !page.next_cursor) return hits
    cursor = page.next_cursor
  }
  return null
}

/** The messages that contain all words. */
export function matching(messages: Message[], words: string): Message[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean)
  return messages.filter((message) => {
    const text = message.content.toLowerCase()
    return parts.every((part) => text.includes(part))
  })
}
