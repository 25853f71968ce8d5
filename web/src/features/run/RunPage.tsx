// One run: what came of it, day by day, while it runs and afterwards.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useLiveJob } from '@/server/live'
import { job as jobQuery, jobResults, status as statusQuery } from '@/server/queries'
import { hasStopped, type Job } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { HouseTag, StatusMark, Tabs, Tag } from '@/shared/ui/parts'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { isMissing } from '@/shared/missing'
import { JobLogPanel } from '../joblog/JobLogPanel'
import { Controls } from './Controls'
import { Performance } from './Performance'
import { Setup } from './Setup'
import { TradesView } from './TradesView'

type Tab = 'performance' | 'trades' | 'log' | 'setup'
const TABS: Tab[] = ['performance', 'trades', 'log', 'setup']

export function RunPage() {
  const t = useText()
  const { jobId } = useParams({ from: '/app/runs/$jobId' })
  const search = useSearch({ from: '/app/runs/$jobId' })
  const navigate = useNavigate()
  const found = useQuery(jobQuery(jobId))
  const running = found.data !== undefined && !hasStopped(found.data.status)
  const line = useLiveJob(jobId, running)
  const tab = TABS.find((one) => one === search.tab) ?? 'performance'

  if (found.isPending) {
    return (
      <div className="page">
        <Loading rows={10} />
      </div>
    )
  }
  if (isMissing(found.error)) {
    return (
      <div className="page">
        <Empty title={t('run.missing')}>
          <Link to="/app/runs">{t('run.missing.all')}</Link>
        </Empty>
      </div>
    )
  }
  if (!found.data) {
    return (
      <div className="page">
        <Failed error={found.error} retry={() => void found.refetch()} />
      </div>
    )
  }
  const job = found.data
  return (
    <div className="page">
      <Head job={job} line={line} />
      <Notices job={job} line={line} />
      <Tabs<Tab>
        label={t('run.tabs')}
        value={tab}
        onChange={(next) => void navigate({ to: '.', search: { tab: next === 'performance' ? undefined : next }, replace: true })}
        choices={TABS.map((value) => ({ value, label: t(`run.tab.${value}`) }))}
      >
        <Chosen tab={tab} job={job} />
      </Tabs>
    </div>
  )
}

function Chosen({ tab, job }: { tab: Tab; job: Job }) {
  switch (tab) {
    case 'trades':
      return <TradesView job={job} />
    case 'log':
      return <JobLogPanel jobId={job.job_id} expectType={job.kind} initialJob={job} />
    case 'setup':
      return <Setup job={job} />
    default:
      return <Performing job={job} />
  }
}

function Performing({ job }: { job: Job }) {
  const t = useText()
  const results = useQuery(jobResults(job.job_id))
  const days = useQuery(statusQuery(job.job_id))
  if (results.isPending || days.isPending) return <Loading rows={10} />
  const error = results.error ?? days.error
  if (error && (!results.data || !days.data)) {
    return <Failed error={error} retry={() => void Promise.all([results.refetch(), days.refetch()])} />
  }
  if (!days.data) return null
  if (!results.data && hasStopped(job.status)) {
    return (
      <Empty title={t('run.no.days')}>
        <p className="second">{t('run.no.days.why')}</p>
      </Empty>
    )
  }
  return <Performance job={job} results={results.data?.results ?? []} status={days.data} />
}

function Head({ job, line }: { job: Job; line: string }) {
  const t = useText()
  const format = useFormat()
  const simulation = job.simulation
  const { total_model_days: total, completed, skipped, failed } = job.progress
  return (
    <div className="page-head">
      <div className="grow">
        <div className="crumbs">
          <Link to="/app/runs">{t('nav.runs')}</Link>
          <span>/</span>
          <span className="mono">{job.job_id}</span>
        </div>
        <h1>
          {simulation?.symbols.join(', ') ?? job.kind}{' '}
          {simulation && (
            <span className="second tnum title-span">
              {simulation.start_date} – {simulation.end_date}
            </span>
          )}
        </h1>
        <div className="facts">
          <StatusMark status={job.status} />
          {line === 'live' && <span className="live">{t('live.on')}</span>}
          <span className="tnum">{t('runs.days.of', { done: completed + skipped, total })}</span>
          {failed > 0 && <Tag kind="bad">{t('runs.failed', { count: failed })}</Tag>}
          <span className="tnum">
            {t('run.usage', {
              input: format.compact(job.usage.input_tokens),
              output: format.compact(job.usage.output_tokens),
              cost: format.cost(job.usage.cost_usd),
            })}
          </span>
          {job.total_duration_seconds != null && <span className="tnum">{format.duration(job.total_duration_seconds)}</span>}
          {simulation?.agents.some((agent) => !agent.is_llm) && <HouseTag isLlm={false} />}
        </div>
      </div>
      <Controls job={job} />
    </div>
  )
}

function Notices({ job, line }: { job: Job; line: string }) {
  const t = useText()
  return (
    <>
      {line === 'broken' && <Note kind="warn" title={t('live.broken')}>{t('live.broken.why')}</Note>}
      {job.error && (
        <Note kind={job.status === 'failed' ? 'bad' : 'warn'} title={t('run.stopped.because')}>
          {job.error}
        </Note>
      )}
      {job.superseded_by && (
        <Note kind="warn" title={t('run.superseded')}>
          <Link to="/app/runs/$jobId" params={{ jobId: job.superseded_by }}>
            {t('run.superseded.by')}
          </Link>
        </Note>
      )}
      {job.warnings.length > 0 && (
        <Note title={t('run.warnings')}>
          {job.warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Note>
      )}
    </>
  )
}
