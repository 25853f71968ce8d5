// All queries, each with its cache key. Keys of a job start with ['job', id], so that its stream can invalidate all of
// them at once.
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Task } from './actions'
import { address, ApiError, orNull, type QueryOf, read, send } from './client'
import type { Bar, Curves, Dataset, DayResults, RangeResults, ShareEvent, SeenByResponse } from './types'
import { hasStopped } from './types'

const FOR_EVER = Number.POSITIVE_INFINITY

/** The current user, as the server knows it. */
export interface Access {
  required: boolean
  name: string | null
  scope: 'read' | 'operate'
}

/** `null`: no access control, so everyone who can reach the server has full access. */
export const access = () =>
  queryOptions({
    queryKey: ['access'],
    queryFn: ({ signal }) => orNull(send<Access>('GET', '/access', undefined, signal)),
    staleTime: 60_000,
  })

export const jobs = (filter: Pick<QueryOf<'/jobs'>, 'kind' | 'status'> = {}) =>
  infiniteQueryOptions({
    queryKey: ['jobs', filter],
    queryFn: ({ pageParam, signal }) =>
      read('/jobs', {}, { ...filter, limit: 40, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: (query) => {
      const found = query.state.data?.pages.flatMap((page) => page.jobs) ?? []
      return found.some((job) => !hasStopped(job.status)) ? 4000 : 20_000
    },
  })

export const job = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'summary'],
    queryFn: async ({ signal }) => (await read('/jobs/{job_id}', { job_id: id }, undefined, signal)).job,
  })

/** The head of the job's hash chains; `null` if verification fails. */
export const jobHead = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'head'],
    queryFn: async ({ signal }) => {
      try {
        return await read('/jobs/{job_id}/head', { job_id: id }, undefined, signal)
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) return null
        throw error
      }
    },
  })

/** A job's progress with one of its model-days, because a long run has tens of thousands. */
export const dayStatus = (id: string, date: string, model: string) =>
  queryOptions({
    queryKey: ['job', id, 'status', date, model],
    queryFn: ({ signal }) => read('/simulate/status/{job_id}', { job_id: id }, { date, model }, signal),
  })

/** Each agent's portfolio value and status by day, for the charts. */
export const curves = (id: string) =>
  queryOptions({
    queryKey: ['job', id, 'curves'],
    queryFn: ({ signal }) => read('/jobs/{job_id}/curves', { job_id: id }, undefined, signal),
  })

/** Whether any day of a run is closed, so that it has results. */
export const hasClosed = (found: Curves): boolean => found.agents.some((agent) => agent.portfolio_values.some((value) => value !== null))

/**
 * Metrics, baselines and benchmark by agent of a job; `null` if no day is closed. The default benchmark is the job's own.
 * The days of the agents are left out or few, unless all are requested, because long runs have megabytes of them.
 */
export const jobResults = (id: string, benchmark?: string, daily: 'all' | 'sparse' | 'none' = 'none') =>
  queryOptions({
    queryKey: ['job', id, 'results', daily, ...(benchmark ? [benchmark] : [])],
    queryFn: async ({ signal }) => {
      const found = await orNull(read('/results', {}, { job_id: id, benchmark, baselines: 'shared', daily }, signal))
      return found && isRange(found) ? withBaselines(found) : null
    },
    staleTime: 30_000,
  })

/** The results of a run in the list of runs, with days for a small chart. */
export const listedResults = (id: string) => jobResults(id, undefined, 'sparse')

/** Results over several days, not of one day. */
function isRange(results: RangeResults | DayResults): results is RangeResults {
  return !('date' in results)
}

/** Results whose agents share their baselines, with these in each result. Long runs are much shorter to send so. */
function withBaselines({ shared_baselines: shared, ...range }: RangeResults): RangeResults {
  const byModel = new Map(shared?.flatMap(({ models, baselines }) => models.map((model) => [model, baselines] as const)))
  return { ...range, results: range.results.map((result) => ({ ...result, baselines: byModel.get(result.model) ?? result.baselines })) }
}

export const dayResult = (id: string, date: string, model: string) =>
  queryOptions({
    queryKey: ['job', id, 'day', date, model],
    queryFn: async ({ signal }) => {
      const found = await orNull(read('/results', {}, { job_id: id, date, model }, signal))
      return found && !isRange(found) ? (found.results[0] ?? null) : null
    },
  })

/** The item whose readers are requested. */
export type ExposureFilter = { kind: SeenByResponse['kind'] } & Partial<Record<'dataset' | 'symbol' | 'from' | 'to' | 'news_id' | 'metric' | 'series' | 'period' | 'published_at' | 'memory_id' | 'job_id' | 'model', string>>

/** The sessions that saw it, newest first. */
export const seenBy = (filter: ExposureFilter) =>
  infiniteQueryOptions({
    queryKey: ['exposures', filter],
    queryFn: ({ pageParam, signal }) => read('/exposures', {}, { ...filter, limit: 25, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

/** The options of a new run on this server. */
export const options = () =>
  queryOptions({
    queryKey: ['options'],
    queryFn: ({ signal }) => read('/simulate/options', {}, undefined, signal),
    staleTime: 60_000,
  })

/** The doctor's checks. They start tool servers, so they are not refetched automatically. */
export const doctor = () =>
  queryOptions({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => read('/doctor', {}, undefined, signal),
    staleTime: FOR_EVER,
    retry: false,
  })

/** A dataset by its hash; `null` if it is no longer available. */
export const dataset = (hash: string) =>
  queryOptions({
    queryKey: ['dataset', hash],
    enabled: hash !== '',
    staleTime: 60_000,
    queryFn: ({ signal }) => orNull(read('/datasets/{name}', { name: hash }, undefined, signal)),
  })

interface FactsFilter {
  symbol?: string | undefined
  series?: string | undefined
}

export const news = (name: string, { symbol }: FactsFilter) =>
  infiniteQueryOptions({
    queryKey: ['news', name, symbol],
    staleTime: FOR_EVER,
    queryFn: ({ pageParam, signal }) => read('/datasets/{name}/news', { name }, { symbol, limit: 50, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const fundamentals = (name: string, { symbol }: FactsFilter) =>
  infiniteQueryOptions({
    queryKey: ['fundamentals', name, symbol],
    staleTime: FOR_EVER,
    queryFn: ({ pageParam, signal }) => read('/datasets/{name}/fundamentals', { name }, { symbol, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const macros = (name: string, { series }: FactsFilter) =>
  infiniteQueryOptions({
    queryKey: ['macros', name, series],
    staleTime: FOR_EVER,
    queryFn: ({ pageParam, signal }) => read('/datasets/{name}/macros', { name }, { series, limit: 100, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const datasets = () =>
  queryOptions({
    queryKey: ['datasets'],
    queryFn: async ({ signal }) => {
      const all: Dataset[] = []
      let cursor: string | undefined
      do {
        const page = await read('/datasets', {}, { limit: 200, cursor }, signal)
        all.push(...page.datasets)
        cursor = page.next_cursor ?? undefined
      } while (cursor)
      return all
    },
    staleTime: 60_000,
  })

/** An instrument's bars, and the splits and dividends on their days. */
export interface Prices {
  bars: Bar[]
  actions: ShareEvent[]
}

/** Daily bars of a dataset, which are immutable; `null` if the dataset is no longer available. */
export const bars = (dataset: string, symbol: string, from?: string, to?: string) =>
  queryOptions({
    queryKey: ['bars', dataset, symbol, from, to],
    enabled: dataset !== '' && symbol !== '',
    staleTime: FOR_EVER,
    queryFn: async ({ signal }) => {
      const all: Prices = { bars: [], actions: [] }
      let cursor: string | undefined
      do {
        const query = { symbol, start_date: from || undefined, end_date: to || undefined, cursor }
        const page = await orNull(read('/datasets/{name}/bars', { name: dataset }, query, signal))
        if (!page) return null
        all.bars.push(...page.bars)
        all.actions.push(...page.actions)
        cursor = page.next_cursor ?? undefined
      } while (cursor)
      return all
    },
  })

export interface MemoryFilter {
  model?: string | undefined
  job_id?: string | undefined
}

export const rounds = (filter: MemoryFilter) =>
  infiniteQueryOptions({
    queryKey: ['memory', 'rounds', filter],
    queryFn: ({ pageParam, signal }) =>
      read('/memory/rounds', {}, { ...filter, limit: 50, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const openPositions = (filter: MemoryFilter) =>
  infiniteQueryOptions({
    queryKey: ['memory', 'open', filter],
    queryFn: ({ pageParam, signal }) =>
      read('/memory/open-positions', {}, { ...filter, limit: 50, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export interface TradesFilter extends MemoryFilter {
  query?: string | undefined
  symbol?: string | undefined
  side?: 'long' | 'short' | undefined
  tag?: string | undefined
  min_pnl?: number | undefined
  max_pnl?: number | undefined
  from?: string | undefined
  to?: string | undefined
}

export const trades = (filter: TradesFilter) =>
  infiniteQueryOptions({
    queryKey: ['memory', 'trades', filter],
    queryFn: ({ pageParam, signal }) =>
      read('/memory/trades', {}, { ...filter, limit: 40, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  })

export const archives = (filter: MemoryFilter) =>
  infiniteQueryOptions({
    queryKey: ['memory', 'archives', filter],
    queryFn: ({ pageParam, signal }) =>
      read('/memory/archives', {}, { ...filter, limit: 50, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

// --- Assistant.

export const chats = () =>
  infiniteQueryOptions({
    queryKey: ['chats'],
    queryFn: ({ pageParam, signal }) => read('/chat/sessions', {}, { limit: 50, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

/** A chat with its messages in pages, newest first; `null` if it does not exist. */
export const chat = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['chat', id],
    queryFn: ({ pageParam, signal }) => orNull(read('/chat/sessions/{session_id}', { session_id: id }, { limit: 60, cursor: pageParam }, signal)),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page?.next_cursor ?? undefined,
  })

export const plans = () =>
  infiniteQueryOptions({
    queryKey: ['plans'],
    queryFn: ({ pageParam, signal }) => read('/plans', {}, { limit: 50, cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  })

export const plan = (id: number) =>
  queryOptions({
    queryKey: ['plan', id],
    queryFn: async ({ signal }) => (await orNull(read('/plans/{plan_id}', { plan_id: id }, undefined, signal)))?.plan ?? null,
  })

export const planJobs = (id: number) =>
  queryOptions({
    queryKey: ['plan', id, 'jobs'],
    queryFn: async ({ signal }) => (await orNull(read('/plans/{plan_id}/jobs', { plan_id: id }, { limit: 20 }, signal)))?.jobs ?? [],
  })

export const tasks = (id: number) =>
  queryOptions({
    queryKey: ['plan', id, 'tasks'],
    queryFn: async ({ signal }) => ((await orNull(read('/plans/{plan_id}/tasks', { plan_id: id }, undefined, signal)))?.tasks ?? []) as Task[],
  })

/** A set of symbol-days with a label. */
export interface Cohort {
  label: string
  run_count: number
  ok_count: number
  error_count: number
  degraded_run_count: number
  error_rate: number
  degraded_rate: number
  median_total_elapsed_ms: number | null
  iqr_total_elapsed_ms: number | null
  median_phase_elapsed_ms: Record<string, number | null>
  iqr_phase_elapsed_ms: Record<string, number | null>
  median_final_history_len: number | null
}

/** Two cohorts compared. */
export interface Report {
  label_a: string
  label_b: string
  cohorts: Record<string, Cohort>
  comparison: {
    faster_label: string | null
    lower_degradation_label: string | null
    lower_error_rate_label: string | null
    recommended_label: string | null
    why: string
  }
  differences: { name: string; a: string; b: string }[]
  flags: string[]
}

export const compare = (a: string, b: string, vary: string) =>
  queryOptions({
    queryKey: ['compare', a, b, vary],
    queryFn: ({ signal }) => send<Report>('GET', address('/profiles/compare', {}, { a, b, vary }), undefined, signal),
  })
