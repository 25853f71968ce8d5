// The list of runs as a file. One row for each agent of a run.
import type { QueryClient } from '@tanstack/react-query'
import { listedResults } from '@/server/queries'
import { readAllRuns, type RunListQuery } from '@/server/runList'
import type { Job, RangeResult } from '@/server/types'
import type { CsvValue, TableData } from '@/shared/csv'
import type { Format } from '@/shared/format'
import type { Translate } from '@/shared/i18n'
import type { TextTable } from '@/shared/png'
import { runTitle } from '@/shared/runTitle'
import { edgeOf } from './RunRow'

/** Metrics are one request per run. */
const MAX_WITH_METRICS = 200
/** The rows of an image. */
const MAX_IN_IMAGE = 100
const AT_ONCE = 6

const JOB = ['job_id', 'name', 'tags', 'note', 'status', 'created_at', 'dataset', 'dataset_hash', 'start_date', 'end_date', 'model_days', 'completed_days', 'degraded_days', 'failed_days', 'cost_usd', 'input_tokens', 'output_tokens', 'agent', 'model'] as const
const METRICS = ['total_return', 'excess_over_buy_and_hold', 'max_drawdown', 'sharpe', 'full_research_days', 'days'] as const

export type Results = Map<string, RangeResult[]>

/** The columns and rows of the file. Without results, it has no columns for them. */
export function rowsOf(jobs: readonly Job[], results: Results | null): { columns: string[]; rows: CsvValue[][] } {
  const rows = jobs.flatMap((job) => {
    const { labels, simulation, progress, quality, usage } = job
    const common: CsvValue[] = [
      job.job_id, labels.name, labels.tags.join(' '), labels.note, job.status, job.created_at,
      simulation?.dataset.name, simulation?.dataset.hash, simulation?.start_date, simulation?.end_date,
      progress.total_model_days, progress.completed, quality.degraded_days, quality.failed_days,
      usage.cost_usd, usage.input_tokens, usage.output_tokens,
    ]
    return (simulation?.agents ?? []).map((agent) => {
      const row = [...common, agent.name, agent.model]
      if (!results) return row
      const result = results.get(job.job_id)?.find((one) => one.model === agent.name)
      const metrics = result?.period_metrics
      return [...row, metrics?.total_return, edgeOf(result), metrics?.max_drawdown, metrics?.sharpe, result?.full_research.days, result?.full_research.total_days]
    })
  })
  return { columns: results ? [...JOB, ...METRICS] : [...JOB], rows }
}

/** All matching runs. */
export async function readRuns(client: QueryClient, query: RunListQuery, t: Translate): Promise<TableData> {
  const jobs = await readAllRuns(query)
  const results = jobs.length > MAX_WITH_METRICS ? null : await readResults(client, jobs)
  return { ...rowsOf(jobs, results), note: results ? undefined : t('runs.csv.short', { count: MAX_WITH_METRICS }) }
}

async function readResults(client: QueryClient, jobs: readonly Job[]): Promise<Results> {
  const found: Results = new Map()
  const waiting = [...jobs]
  const work = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      const results = await client.fetchQuery(listedResults(job.job_id))
      found.set(job.job_id, results?.results ?? [])
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return found
}

/** The first loaded runs, as an image shows them. */
export async function runsImage(client: QueryClient, jobs: readonly Job[], t: Translate, format: Format): Promise<TextTable> {
  const shown = jobs.slice(0, MAX_IN_IMAGE)
  const results = await readResults(client, shown)
  const columns = [
    { text: t('runs.column.run') }, { text: t('runs.column.status') }, { text: t('runs.column.period') }, { text: t('runs.agent') },
    { text: t('runs.return'), number: true }, { text: t('runs.edge'), number: true }, { text: t('runs.drawdown'), number: true }, { text: t('runs.sharpe'), number: true },
    { text: t('runs.research') }, { text: t('runs.column.created') },
  ]
  const rows = shown.flatMap((job) =>
    (job.simulation?.agents ?? []).map((agent) => {
      const result = results.get(job.job_id)?.find((one) => one.model === agent.name)
      const metrics = result?.period_metrics
      return [
        runTitle(job, t), t(`status.${job.status}`), format.span(job.simulation?.start_date, job.simulation?.end_date), agent.name,
        format.change(metrics?.total_return), format.change(edgeOf(result)), format.percent(metrics?.max_drawdown), format.ratio(metrics?.sharpe),
        result ? `${result.full_research.days}/${result.full_research.total_days}` : '', format.instant(job.created_at),
      ]
    }),
  )
  return { columns, rows, note: jobs.length > MAX_IN_IMAGE ? t('runs.png.short', { count: MAX_IN_IMAGE }) : undefined }
}
