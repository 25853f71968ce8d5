// What the command palette requests: jobs by their words, and sessions by day and agent.
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { orNull, read } from './client'
import type { Job, Session } from './types'

/** Jobs per search, and sessions per agent. */
const MAX_JOBS = 12
const MAX_SESSIONS = 12
/** Agents per search. */
const MAX_AGENTS = 4
/** Sessions of one day among which an agent is looked for: the server's maximum. */
const MAX_OF_DAY = 200

/** What was found, and what was searched for. Results of a previous search remain while the next one loads. */
export interface Found<Q, R> {
  query: Q
  found: R[]
}

/** The newest jobs of any kind in which all these words occur. */
export const jobSearch = (words: string) =>
  queryOptions({
    queryKey: ['job search', words],
    enabled: words !== '',
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Found<string, Job>> => ({ query: words, found: (await read('/jobs', {}, { search: words, limit: MAX_JOBS }, signal)).jobs }),
  })

export interface SessionQuery {
  /** `null`: nothing is searched. */
  date: string | null
  /** The words that name the agent. */
  words: string
  /** The agents that match these words, as far as they are known. */
  agents: string[]
}

/**
 * Sessions of a day whose agent matches. The server compares an agent's name exactly: words that are part of no known
 * name are compared with the agents of the day's sessions.
 */
export const sessionSearch = (query: SessionQuery) =>
  queryOptions({
    queryKey: ['session search', query],
    enabled: query.date !== null,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Found<SessionQuery, Session>> => {
      const { date, words, agents } = query
      if (date === null) return { query, found: [] }
      const sessionsOf = async (limit: number, model?: string) => (await orNull(read('/reasoning', {}, { date, model, limit }, signal)))?.sessions ?? []
      if (agents.length > 0) return { query, found: (await Promise.all(agents.slice(0, MAX_AGENTS).map((agent) => sessionsOf(MAX_SESSIONS, agent)))).flat() }
      if (words === '') return { query, found: await sessionsOf(MAX_SESSIONS) }
      const parts = words.toLowerCase().split(/\s+/)
      return { query, found: (await sessionsOf(MAX_OF_DAY)).filter(({ model }) => parts.every((part) => model.toLowerCase().includes(part))) }
    },
  })
