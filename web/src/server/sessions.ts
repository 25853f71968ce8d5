// The queries of sessions. Their cache keys are those of the job, so that its stream can invalidate all of them at once.
import { type QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query'
import { ApiError, orNull, read } from './client'
import type { Exposure, Instructions, Message, Session, Step } from './types'

/** All sessions of an agent in a job with their ledger entries, without conversations. */
export const agentSessions = (id: string, model: string) =>
  queryOptions({
    queryKey: ['job', id, 'sessions', model],
    enabled: model !== '',
    queryFn: async ({ signal }) => {
      const sessions: Session[] = []
      let cursor: string | undefined
      do {
        const page = await orNull(read('/reasoning', {}, { job_id: id, model, limit: 200, cursor }, signal))
        sessions.push(...(page?.sessions ?? []))
        cursor = page?.next_cursor ?? undefined
      } while (cursor)
      return sessions
    },
    staleTime: 30_000,
  })

/** One session without its conversation: see `conversation`. */
export const session = (id: string, date: string, model: string) =>
  queryOptions({
    queryKey: ['job', id, 'session', date, model],
    queryFn: async ({ signal }) => (await orNull(read('/reasoning', {}, { job_id: id, date, model, limit: 1 }, signal)))?.sessions[0] ?? null,
  })

/** The loaded part of a session's conversation. */
export interface Conversation {
  messages: Message[]
  instructions: Instructions[]
  /** The total number of messages. */
  total: number
}

/** The conversation of a session: the first page at once, the rest as it loads. */
export const conversation = (jobId: string, id: number) =>
  queryOptions({
    queryKey: ['job', jobId, 'conversation', id],
    queryFn: ({ signal, client, queryKey }) => {
      let instructions: Instructions[] = []
      let total = 0
      return fetchAllPages<Message, Conversation>(
        client,
        queryKey,
        async (cursor, limit) => {
          const page = await read('/sessions/{session_id}/messages', { session_id: id }, { limit, cursor }, signal)
          instructions = page.instructions ?? instructions
          total = page.total
          return [page.messages, page.next_cursor]
        },
        (messages) => ({ messages, instructions, total }),
      )
    },
  })

export const steps = (jobId: string, id: number) =>
  queryOptions({
    queryKey: ['job', jobId, 'steps', id],
    queryFn: ({ signal, client, queryKey }) =>
      fetchAllPages<Step, Step[]>(
        client,
        queryKey,
        async (cursor, limit) => {
          const page = await read('/sessions/{session_id}/steps', { session_id: id }, { limit, cursor }, signal)
          return [page.steps, page.next_cursor]
        },
        (steps) => steps,
      ),
  })

export const exposures = (jobId: string, id: number) =>
  queryOptions({
    queryKey: ['job', jobId, 'exposures', id],
    queryFn: ({ signal, client, queryKey }) =>
      fetchAllPages<Exposure, Exposure[]>(
        client,
        queryKey,
        async (cursor, limit) => {
          const page = await read('/sessions/{session_id}/exposures', { session_id: id }, { limit, cursor }, signal)
          return [page.exposures, page.next_cursor]
        },
        (exposures) => exposures,
      ),
  })

/** The first page is small, so that it is visible soon. The others have the server's maximum size. */
const FIRST_PAGE = 200
const MAX_PAGE = 1000

type Page<T> = [rows: T[], next: string | null | undefined]

/**
 * Fetches all pages of a list. On the first load, publishes partial results to the cache: after the first page, and each
 * time the number of rows has doubled.
 */
async function fetchAllPages<T, R>(client: QueryClient, key: QueryKey, next: (cursor: string | undefined, limit: number) => Promise<Page<T>>, build: (rows: T[]) => R): Promise<R> {
  const isFirstLoad = client.getQueryData(key) === undefined
  const all: T[] = []
  let cursor: string | undefined
  let published = 0
  do {
    const [rows, more] = await next(cursor, cursor === undefined && isFirstLoad ? FIRST_PAGE : MAX_PAGE)
    all.push(...rows)
    cursor = more ?? undefined
    if (isFirstLoad && cursor && all.length >= 2 * published) {
      published = all.length
      client.setQueryData(key, build([...all]))
    }
  } while (cursor)
  return build(all)
}

export const sessionMemory = (jobId: string, id: number) =>
  queryOptions({
    queryKey: ['job', jobId, 'memory', id],
    queryFn: async ({ signal }) =>
      (await orNull(read('/sessions/{session_id}/memory', { session_id: id }, undefined, signal)))?.recalled ?? [],
  })

/** What led to a fill. */
export const lineage = (jobId: string, id: number, actionId: number) =>
  queryOptions({
    queryKey: ['job', jobId, 'lineage', id, actionId],
    queryFn: ({ signal }) => read('/sessions/{session_id}/lineage', { session_id: id }, { action_id: actionId }, signal),
  })

export const sessionLive = (jobId: string, id: number, ticker: string) =>
  queryOptions({
    queryKey: ['job', jobId, 'live', id, ticker],
    enabled: ticker !== '',
    queryFn: async ({ signal }) => {
      try {
        return await read('/sessions/{session_id}/live', { session_id: id }, { ticker }, signal)
      } catch (error) {
        // 409: still running. 400 and 404: not a desk.
        if (error instanceof ApiError && [400, 404, 409].includes(error.status)) return null
        throw error
      }
    },
  })

/** A session's head by its number. */
export const sessionHead = (id: number) =>
  queryOptions({
    queryKey: ['session', id],
    queryFn: ({ signal }) => orNull(read('/sessions/{session_id}', { session_id: id }, undefined, signal)),
  })
