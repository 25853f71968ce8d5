// One run in the table: a header row, then a row for each agent.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Sparkline } from '@/charts/Sparkline'
import { jobResults } from '@/server/queries'
import type { Job, RangeResult } from '@/server/types'
import { hasStopped } from '@/server/types'
import { ABSENT, signClass, useFormat } from '@/shared/format'
import { type Translate, useText } from '@/shared/i18n'
import { tradedOf } from '@/shared/symbols'
import { useNow } from '@/shared/now'
import { HouseTag, StatusMark, Tag } from '@/shared/ui/parts'
import { UnverifiedTag } from '@/shared/ui/pointInTime'
import { JobQualityTag, QualityShare, useCost } from '@/shared/ui/quality'

export function RunGroup({ job }: { job: Job }) {
  const results = useQuery({
    ...jobResults(job.job_id),
    refetchInterval: hasStopped(job.status) ? false : 5000,
  })
  const agents = job.simulation?.agents ?? []
  const resultOf = (name: string) => results.data?.results.find((result) => result.model === name)
  return (
    <div className="runs-group" role="rowgroup">
      <Head job={job} />
      {agents.map((agent) => (
        <AgentRow key={agent.name} job={job} name={agent.name} isLlm={agent.is_llm} result={resultOf(agent.name)} loading={results.isPending} />
      ))}
    </div>
  )
}

function title(job: Job, t: Translate): string {
  return job.simulation ? tradedOf(job.simulation, t) : job.kind
}

function Head({ job }: { job: Job }) {
  const t = useText()
  const format = useFormat()
  const now = useNow()
  const cost = useCost()
  const simulation = job.simulation
  const { total_model_days: total, completed, failed, skipped } = job.progress
  return (
    <div className="runs-head" role="row">
      <span role="cell" className="row grow">
        <StatusMark status={job.status} />
        <Link to="/app/runs/$jobId" params={{ jobId: job.job_id }} className="runs-link clip">
          {title(job, t)}
        </Link>
        {simulation && (
          <span className="second tnum nowrap">
            {format.span(simulation.start_date, simulation.end_date)}
          </span>
        )}
        {simulation?.branch && <Tag>{t('run.branch')}</Tag>}
        {simulation?.imported && <Tag>{t('run.imported')}</Tag>}
        {job.superseded_by && <Tag>{t('run.superseded')}</Tag>}
        {!job.superseded_by && Object.keys(job.superseded).length > 0 && <Tag>{t('run.superseded.part')}</Tag>}
        {job.error && (
          <span className="down clip" title={job.error}>
            {job.error}
          </span>
        )}
      </span>
      <span role="cell" className="runs-side">
        {!hasStopped(job.status) || completed + skipped < total ? (
          <span className="row">
            <span className="progress" aria-hidden="true">
              <span style={{ width: `${total ? ((completed + skipped) / total) * 100 : 0}%` }} />
              <span className="bad" style={{ width: `${total ? (failed / total) * 100 : 0}%` }} />
            </span>
            <span className="tnum second nowrap">{t('runs.days.of', { done: completed + skipped, total })}</span>
          </span>
        ) : (
          <span className="tnum second nowrap">{t('runs.days', { total })}</span>
        )}
        <JobQualityTag quality={job.quality} />
        <span
          className="tnum second nowrap"
          title={job.usage.estimated_calls > 0 ? t('run.estimated', { count: job.usage.estimated_calls }) : t('runs.cost')}
        >
          {job.usage.estimated_calls > 0 && '~'}
          {cost(job.usage)}
        </span>
        <time className="quiet nowrap" dateTime={job.created_at} title={format.instant(job.created_at)}>
          {format.ago(job.created_at, now)}
        </time>
      </span>
    </div>
  )
}

interface AgentRowProps {
  job: Job
  name: string
  isLlm: boolean
  result: RangeResult | undefined
  loading: boolean
}

function AgentRow({ job, name, isLlm, result, loading }: AgentRowProps) {
  const t = useText()
  const format = useFormat()
  const metrics = result?.period_metrics
  const hold = result?.baselines?.buy_and_hold.period_metrics.total_return
  const gain = metrics?.total_return
  const edge = gain != null && hold != null ? gain - hold : null
  const values = result ? [result.starting_portfolio_value, ...result.daily_portfolio_values.map((day) => day.portfolio_value)] : []
  const placeholder = loading ? '…' : ABSENT
  return (
    <div className="runs-row" role="row">
      <span role="cell" className="row">
        <Link to="/app/runs/$jobId" params={{ jobId: job.job_id }} className="clip plain-link" title={name}>
          {name}
        </Link>
        <HouseTag isLlm={isLlm} />
      </span>
      <span role="cell">
        <Sparkline values={values} tone={signClass(gain) || 'flat'} />
      </span>
      <span role="cell" className={`num ${signClass(gain)}`}>
        {result ? format.change(gain) : placeholder}
      </span>
      <span role="cell" className={`num ${signClass(edge)}`} title={t('runs.edge.title')}>
        {result ? format.change(edge) : placeholder}
      </span>
      <span role="cell" className="num">
        {result ? format.percent(metrics?.max_drawdown) : placeholder}
      </span>
      <span role="cell" className="num">
        {result ? format.ratio(metrics?.sharpe) : placeholder}
      </span>
      <span role="cell" className="row">
        {result && <QualityShare full={result.full_research.days} total={result.full_research.total_days} first={result.provenance.reasons[0]} />}
        <UnverifiedTag provenance={result?.provenance} />
      </span>
    </div>
  )
}
