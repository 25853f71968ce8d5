// Queries of leaderboards.
import { queryOptions } from '@tanstack/react-query'
import { read } from './client'

/** The maximum number of boards to choose from. */
export const MAX_BOARDS = 100

/** All boards without entries, those with the newest runs first; only those with a run of a model or agent, if given. */
export const boards = (model?: string) =>
  queryOptions({
    queryKey: ['leaderboard', 'list', model],
    queryFn: ({ signal }) => read('/leaderboard', {}, { summary: true, limit: MAX_BOARDS, model }, signal),
    staleTime: 20_000,
  })

/** One board with its entries. The server ranks all of them for each request. */
export const board = (id: string) =>
  queryOptions({
    queryKey: ['leaderboard', 'board', id],
    queryFn: ({ signal }) => read('/leaderboard', {}, { board: id }, signal),
    staleTime: 60_000,
    retry: 1,
  })
