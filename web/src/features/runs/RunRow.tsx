// One run in the list. Cells of agents have a line for each agent.
import { Link } from '@tanstack/react-router'
import { memo, type ReactNode, useCallback, useMemo } from 'react'
import { Sparkline } from '@/charts/Sparkline'
import { useFollowed } from '@/server/followed'
import { job as jobQuery, listedResults } from '@/server/queries'
import type { Job, RangeResult } from '@/server/types'
import { hasStopped } from '@/server/types'
import { ABSENT, signClass, useFormat } from '@/shared/format'
import { shortId } from '@/shared/ids'
import { useText } from '@/shared/i18n'
import { runTitle } from '@/shared/runTitle'
import { tradedOf } from '@/shared/symbols'
import { HouseTag, StatusMark, Tag } from '@/shared/ui/parts'
import { useCost } from '@/shared/ui/quality'
import type { Column, ColumnKey } from './columns'
import { LabelForm } from './LabelForm'
import { QualityCell } from './QualityCell'
import css from './runs.module.css'

interface Props {
  job: Job
  columns: Column[]
  /** The row has stopped moving, so that its results are worth a request. */
  isSettled: boolean
  isSelected: boolean
  isEditing: boolean
  canEdit: boolean
  now: number
  onSelect: (id: string, isSelected: boolean) => void
  onEdit: (id: string | null) => void
}

/** How often an active run and its results are read. */
const everyFewSeconds = () => 5000
const untilStopped = (job: Job | undefined) => (job && hasStopped(job.status) ? false : 4000)
const never = () => false as const

/** What a run on top of its baseline has earned. */
export function edgeOf(result: RangeResult | undefined): number | null {
  const gain = result?.period_metrics.total_return
  const hold = result?.baselines?.buy_and_hold.period_metrics.total_return
  return gain != null && hold != null ? gain - hold : null
}

export const RunRow = memo(function RunRow({ job: listed, columns, isSettled, isSelected, isEditing, canEdit, now, onSelect, onEdit }: Props) {
  const t = useText()
  const id = listed.job_id
  // An active run is followed by itself: the list may be too long to read again.
  const isActive = !hasStopped(listed.status)
  const current = useFollowed(jobQuery, id, isActive && isSettled, untilStopped).data
  const job = useMemo(() => (isActive && current ? { ...current, labels: listed.labels } : listed), [isActive, current, listed])
  const isRunning = !hasStopped(job.status)
  // Before the first day has ended there are none.
  const hasResults = job.progress.completed + job.progress.skipped > 0 || !isRunning
  const { data, error } = useFollowed(listedResults, id, isSettled && hasResults, isRunning ? everyFewSeconds : never)
  const title = runTitle(job, t)
  const toggleEdit = useCallback(() => onEdit(isEditing ? null : id), [onEdit, isEditing, id])
  return (
    <>
      <span role="cell" className={css.cell} data-column="select">
        <input type="checkbox" aria-label={t('runs.select', { run: title })} checked={isSelected} onChange={(event) => onSelect(id, event.target.checked)} />
      </span>
      <Cells job={job} columns={columns} results={data?.results} placeholder={data === undefined && !error ? '…' : ABSENT} now={now} edit={canEdit ? toggleEdit : null} />
      {isEditing && (
        <div role="cell" className={css.editor}>
          <LabelForm job={job} onClose={() => onEdit(null)} />
        </div>
      )}
    </>
  )
})

interface CellsProps {
  job: Job
  columns: Column[]
  results: RangeResult[] | undefined
  placeholder: string
  now: number
  edit: (() => void) | null
}

/** Rendered only if what they show has changed, not whenever the list scrolls. */
const Cells = memo(function Cells({ job, columns, results, placeholder, now, edit }: CellsProps) {
  const t = useText()
  const title = runTitle(job, t)
  const each = (cell: (name: string, result: RangeResult | undefined, isLlm: boolean) => ReactNode) =>
    (job.simulation?.agents ?? []).map((agent) => (
      <span key={agent.name} className={css.line}>
        {cell(
          agent.name,
          results?.find((result) => result.model === agent.name),
          agent.is_llm,
        )}
      </span>
    ))
  return columns.map(({ key, isNumber, stays }) => (
    <span key={key} role="cell" className={`${css.cell} ${isNumber ? 'num' : ''} ${stays ? css.stays : ''}`} data-column={key}>
      <Cell name={key} job={job} title={title} results={results} each={each} placeholder={placeholder} now={now} edit={edit} />
    </span>
  ))
})

interface CellProps {
  name: ColumnKey
  job: Job
  title: string
  results: RangeResult[] | undefined
  each: (cell: (name: string, result: RangeResult | undefined, isLlm: boolean) => ReactNode) => ReactNode
  placeholder: string
  now: number
  edit: (() => void) | null
}

function Cell({ name, job, title, results, each, placeholder, now, edit }: CellProps) {
  const t = useText()
  const format = useFormat()
  const cost = useCost()
  const simulation = job.simulation
  const number = (value: (result: RangeResult) => ReactNode, tone?: (result: RangeResult | undefined) => string) =>
    each((_, result) => <span className={tone?.(result)}>{result ? value(result) : placeholder}</span>)
  switch (name) {
    case 'run':
      return <Run job={job} title={title} edit={edit} />
    case 'status':
      return <Status job={job} />
    case 'agent':
      return each((agent, _, isLlm) => (
        <>
          <Link to="/app/runs/$jobId" params={{ jobId: job.job_id }} className="clip plain-link" title={modelOf(job, agent)}>
            {agent}
          </Link>
          <HouseTag isLlm={isLlm} />
        </>
      ))
    case 'equity':
      return each((_, result) => (
        <Sparkline
          values={result ? [result.starting_portfolio_value, ...result.daily_portfolio_values.map((day) => day.portfolio_value)] : []}
          tone={signClass(result?.period_metrics.total_return) || 'flat'}
        />
      ))
    case 'return':
      return number(
        (result) => format.change(result.period_metrics.total_return),
        (result) => signClass(result?.period_metrics.total_return),
      )
    case 'edge':
      return number(
        (result) => <span title={t('runs.edge.title')}>{format.change(edgeOf(result))}</span>,
        (result) => signClass(edgeOf(result)),
      )
    case 'drawdown':
      return number((result) => format.percent(result.period_metrics.max_drawdown))
    case 'sharpe':
      return number((result) => format.ratio(result.period_metrics.sharpe))
    case 'quality':
      return <QualityCell job={job} results={results} placeholder={placeholder} />
    case 'dataset':
      return <span className="clip">{simulation?.dataset.name ?? ABSENT}</span>
    case 'period':
      return <span className="tnum">{simulation ? format.span(simulation.start_date, simulation.end_date) : ABSENT}</span>
    case 'cost':
      return (
        <span className="tnum" title={job.usage.estimated_calls > 0 ? t('run.estimated', { count: job.usage.estimated_calls }) : t('runs.cost')}>
          {job.usage.estimated_calls > 0 && '~'}
          {cost(job.usage)}
        </span>
      )
    case 'created':
      return (
        <time className="quiet nowrap" dateTime={job.created_at} title={format.instant(job.created_at)}>
          {format.ago(job.created_at, now)}
        </time>
      )
  }
}

function modelOf(job: Job, agent: string): string {
  const model = job.simulation?.agents.find((one) => one.name === agent)?.model
  return model === undefined || model === agent ? agent : `${agent} · ${model}`
}

/** The name, what is traded and when, and the labels. */
function Run({ job, title, edit }: { job: Job; title: string; edit: (() => void) | null }) {
  const t = useText()
  const format = useFormat()
  const { simulation, labels, experiment } = job
  return (
    <>
      <span className={css.line}>
        <Link to="/app/runs/$jobId" params={{ jobId: job.job_id }} className={`${css.link} clip`} title={title}>
          {title}
        </Link>
        {edit && (
          <button type="button" className={`button small plain ${css.edit}`} aria-label={t('labels.edit.of', { run: title })} title={t('labels.edit')} onClick={edit}>
            ✎
          </button>
        )}
      </span>
      <span className={`${css.sub} second`}>
        {labels.name !== null && labels.name !== undefined && simulation && <span className="clip">{tradedOf(simulation, t)}</span>}
        {simulation && <span className="tnum nowrap">{format.span(simulation.start_date, simulation.end_date)}</span>}
        {labels.note && <Tag title={labels.note}>{t('labels.note')}</Tag>}
        {labels.tags.map((tag) => (
          <Link key={tag} to="/app/runs" search={{ tag }} className="tag" aria-label={t('labels.find', { tag })}>
            {tag}
          </Link>
        ))}
        {experiment && (
          <Tag title={t('runs.experiment.title', { experiment: shortId(experiment.experiment_id), window: experiment.window, trial: experiment.trial })}>{t('runs.experiment')}</Tag>
        )}
        {simulation?.branch && <Tag>{t('run.branch')}</Tag>}
        {simulation?.imported && <Tag>{t('run.imported')}</Tag>}
        {job.superseded_by && <Tag>{t('run.superseded')}</Tag>}
        {!job.superseded_by && Object.keys(job.superseded).length > 0 && <Tag>{t('run.superseded.part')}</Tag>}
      </span>
    </>
  )
}

function Status({ job }: { job: Job }) {
  const t = useText()
  const { total_model_days: total, completed, failed, skipped } = job.progress
  const isPartial = !hasStopped(job.status) || completed + skipped < total
  return (
    <>
      <span className={css.line}>
        <StatusMark status={job.status} />
      </span>
      {isPartial ? (
        <span className={css.sub}>
          <span className="progress" aria-hidden="true">
            <span style={{ width: `${total ? ((completed + skipped) / total) * 100 : 0}%` }} />
            <span className="bad" style={{ width: `${total ? (failed / total) * 100 : 0}%` }} />
          </span>
          <span className="tnum second nowrap" title={t('runs.days.of', { done: completed + skipped, total })}>
            {completed + skipped}/{total}
          </span>
        </span>
      ) : (
        <span className={`${css.sub} tnum second nowrap`}>{t('runs.days', { total })}</span>
      )}
      {job.error && (
        <span className={`${css.sub} down clip`} title={job.error}>
          {job.error}
        </span>
      )}
    </>
  )
}
