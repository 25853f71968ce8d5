// One run: results, trades, log and setup, live while it runs.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useLiveJob } from '@/server/live'
import { curves as curvesQuery, dataset as datasetQuery, job as jobQuery, jobResults } from '@/server/queries'
import { type Curves, hasStopped, type Job } from '@/server/types'
import { type Format, useFormat } from '@/shared/format'
import { type Translate, useText, useWord } from '@/shared/i18n'
import { tradedOf } from '@/shared/symbols'
import { useTitle } from '@/shared/title'
import { Icon } from '@/shared/ui/icons'
import { AgentKinds } from '@/shared/ui/agentKinds'
import { MaskedTag } from '@/shared/ui/evidenceMarks'
import { Operate } from '@/shared/ui/operate'
import { StatusMark, Tabs, Tag } from '@/shared/ui/parts'
import { JobQualityTag, useCost } from '@/shared/ui/quality'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { isMissing } from '@/shared/missing'
import { AuditPanel } from '../audit/AuditPanel'
import { JobLogPanel } from '../jobLog/JobLogPanel'
import { BenchmarkPick } from './BenchmarkPick'
import { BranchForm } from './BranchForm'
import { Controls } from './Controls'
import { Performance } from './Performance'
import { ReviewsView } from './ReviewsView'
import { Setup } from './Setup'
import { TradesView } from './TradesView'

interface RunSearch {
  tab?: string | undefined
  branch?: boolean | undefined
  agent?: string | undefined
  date?: string | undefined
  node?: string | undefined
}

type Tab = 'performance' | 'trades' | 'reviews' | 'log' | 'setup'
const TABS: Tab[] = ['performance', 'trades', 'reviews', 'log', 'setup']

export function RunPage() {
  const { jobId } = useParams({ from: '/app/runs/$jobId' })
  // Selections on the page of one run do not apply to another.
  return <Run key={jobId} jobId={jobId} />
}

function Run({ jobId }: { jobId: string }) {
  const t = useText()
  const word = useWord()
  const search = useSearch({ from: '/app/runs/$jobId' })
  const navigate = useNavigate()
  const jobResult = useQuery(jobQuery(jobId))
  // Fetched in parallel with the job, because they are shown first.
  const curves = useQuery(curvesQuery(jobId))
  const running = jobResult.data !== undefined && !hasStopped(jobResult.data.status)
  const connection = useLiveJob(jobId, running)
  const tab = TABS.find((one) => one === search.tab) ?? 'performance'
  const format = useFormat()
  useTitle(jobResult.data ? titleOf(jobResult.data, format, t, word) : t('run.title'))

  if (jobResult.isPending) {
    return (
      <div className="page">
        <Loading rows={10} />
      </div>
    )
  }
  if (isMissing(jobResult.error)) {
    return (
      <div className="page">
        <Empty title={t('run.missing')} isPage>
          <Link to="/app/runs">{t('run.missing.all')}</Link>
        </Empty>
      </div>
    )
  }
  if (!jobResult.data) {
    return (
      <div className="page">
        <Failed error={jobResult.error} retry={() => void jobResult.refetch()} />
      </div>
    )
  }
  const job = jobResult.data
  const branch = (open: boolean) => void navigate({ to: '.', search: (now: RunSearch) => (open ? { ...now, branch: true } : { tab: now.tab }), replace: !open })
  return (
    <div className="page">
      <Head job={job} connection={connection} stopping={curves.data?.cancel_requested ?? false} onBranch={() => branch(true)} onDeleted={() => void navigate({ to: '/app/runs' })} />
      <Notices job={job} connection={connection} curves={curves.data} />
      <Tabs<Tab>
        label={t('run.tabs')}
        value={tab}
        onChange={(next) => void navigate({ to: '.', search: { tab: next === 'performance' ? undefined : next }, replace: true })}
        choices={TABS.map((value) => ({ value, label: t(`run.tab.${value}`) }))}
      >
        <SelectedTab tab={tab} job={job} curves={curves} />
      </Tabs>
      <Operate>{search.branch && <BranchForm job={job} dates={curves.data?.dates ?? NO_DATES} agent={search.agent} date={search.date} node={search.node} onClose={() => branch(false)} />}</Operate>
    </div>
  )
}

const NO_DATES: string[] = []

function SelectedTab({ tab, job, curves }: { tab: Tab; job: Job; curves: UseQueryResult<Curves> }) {
  switch (tab) {
    case 'trades':
      return <TradesView job={job} curves={curves.data} />
    case 'reviews':
      return <ReviewsView job={job} />
    case 'log':
      return <JobLogPanel jobId={job.job_id} expectType={job.kind} initialJob={job} />
    case 'setup':
      return (
        <div className="stack sections">
          <Setup job={job} />
          <AuditPanel jobId={job.job_id} />
        </div>
      )
    default:
      return <PerformanceTab job={job} curves={curves} />
  }
}

function PerformanceTab({ job, curves }: { job: Job; curves: UseQueryResult<Curves> }) {
  const t = useText()
  const [benchmark, setBenchmark] = useState('')
  // Metrics of several years take longer and must not delay the curves. Before the first close there are none.
  const hasResults = curves.data?.agents.some((agent) => agent.portfolio_values.some((value) => value !== null)) ?? false
  const results = useQuery({ ...jobResults(job.job_id, benchmark), enabled: hasResults, placeholderData: keepPreviousData })
  const dataset = useQuery({ ...datasetQuery(job.simulation?.dataset.hash ?? ''), enabled: job.simulation != null })
  if (curves.isPending) return <Loading rows={10} />
  if (!curves.data) return <Failed error={curves.error} retry={() => void curves.refetch()} />
  const closed = curves.data.agents.some((agent) => agent.starting_portfolio_value != null)
  if (!closed && hasStopped(job.status)) {
    return (
      <Empty title={t('run.no.days')}>
        <p className="second">{t('run.no.days.why')}</p>
      </Empty>
    )
  }
  return <Performance job={job} curves={curves.data} results={results} zone={dataset.data?.zone ?? null} pick={<BenchmarkPick job={job} value={benchmark} onChange={setBenchmark} />} />
}

function titleOf(job: Job, format: Format, t: Translate, word: ReturnType<typeof useWord>): string {
  const simulation = job.simulation
  return simulation ? `${tradedOf(simulation, t)} ${format.span(simulation.start_date, simulation.end_date)}` : word('kind', job.kind)
}

interface HeadProps {
  job: Job
  connection: string
  stopping: boolean
  onBranch: () => void
  onDeleted: () => void
}

function Head({ job, connection, stopping, onBranch, onDeleted }: HeadProps) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const cost = useCost()
  const simulation = job.simulation
  const { total_model_days: total, completed, skipped } = job.progress
  return (
    <div className="page-head">
      <div className="grow">
        <div className="crumbs">
          <Link to="/app/runs">{t('nav.runs')}</Link>
          <span>/</span>
          <span className="mono">{job.job_id}</span>
        </div>
        <h1 title={simulation?.symbols.join(', ')}>
          {simulation ? tradedOf(simulation, t) : word('kind', job.kind)}{' '}
          {simulation && <span className="second tnum title-span">{format.span(simulation.start_date, simulation.end_date)}</span>}
        </h1>
        <div className="facts">
          <StatusMark status={job.status} />
          {connection === 'live' && <span className="live">{t('live.on')}</span>}
          {(connection === 'connecting' || connection === 'updating') && <span className="quiet">{t('live.updating')}</span>}
          <span className="tnum">{t('runs.days.of', { done: completed + skipped, total })}</span>
          <JobQualityTag quality={job.quality} />
          <span
            className="tnum"
            title={job.usage.estimated_calls > 0 ? t('run.estimated', { count: job.usage.estimated_calls }) : undefined}
          >
            {job.usage.estimated_calls > 0 && '~ '}
            {t('run.usage', {
              input: format.compact(job.usage.input_tokens),
              output: format.compact(job.usage.output_tokens),
              cost: cost(job.usage),
            })}
          </span>
          {job.total_duration_seconds != null && <span className="tnum">{format.duration(job.total_duration_seconds)}</span>}
          {simulation && <AgentKinds agents={simulation.agents} />}
          <MaskedTag masked={simulation?.masked} />
          {simulation?.imported && <Tag>{t('run.imported')}</Tag>}
          {simulation?.branch && (
            <Link to="/app/runs/$jobId" params={{ jobId: simulation.branch.job_id }} className="tag">
              <Icon name="branch" />
              {t('run.branch.of', { date: format.day(simulation.branch.date), at: simulation.branch.at })}
            </Link>
          )}
        </div>
      </div>
      <Controls job={job} stopping={stopping} onBranch={onBranch} onDeleted={onDeleted} />
    </div>
  )
}

function Notices({ job, connection, curves }: { job: Job; connection: string; curves: Curves | undefined }) {
  const t = useText()
  const format = useFormat()
  const earlierDays = (curves?.agents ?? []).flatMap((agent) => agent.done_before.map((days) => ({ agent: agent.model, ...days })))
  const superseded = job.superseded_by ? [] : Object.entries(job.superseded)
  return (
    <>
      {connection === 'broken' && <Note kind="warn" title={t('live.broken')}>{t('live.broken.why')}</Note>}
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
      {superseded.length > 0 && (
        <Note kind="warn" title={t('run.superseded.part')}>
          {superseded.map(([agent, otherJob]) => (
            <p key={agent}>
              {agent}:{' '}
              <Link to="/app/runs/$jobId" params={{ jobId: otherJob }}>
                {t('run.superseded.by')}
              </Link>
            </p>
          ))}
        </Note>
      )}
      {earlierDays.length > 0 && (
        <Note title={t('run.done.before')}>
          {earlierDays.map(({ agent, job_id: otherJob, start_date: first, end_date: last }) => (
            <p key={`${agent} ${first}`}>
              {t('run.done.before.by', { agent, span: format.span(first, last) })}{' '}
              <Link to="/app/runs/$jobId" params={{ jobId: otherJob }} className="mono">
                {otherJob.slice(0, 13)}…
              </Link>
            </p>
          ))}
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
