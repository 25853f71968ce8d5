// One run: results, trades, log and setup, live while it runs.
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useLiveJob } from '@/server/live'
import { curves as curvesQuery, dataset as datasetQuery, hasClosed, job as jobQuery, jobResults } from '@/server/queries'
import { type Curves, hasStopped, type Job } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { datedRunTitle } from '@/shared/runTitle'
import { useTitle } from '@/shared/title'
import { Operate } from '@/shared/ui/operate'
import { Tabs } from '@/shared/ui/parts'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { isMissing } from '@/shared/missing'
import { AuditPanel } from '../audit/AuditPanel'
import { JobLogPanel } from '../jobLog/JobLogPanel'
import { BenchmarkPick } from './BenchmarkPick'
import { BranchForm } from './BranchForm'
import { Performance } from './Performance'
import { ReviewsView } from './ReviewsView'
import { RunHead } from './RunHead'
import { type RunSearch, type Tab, TABS, withoutBranch } from './search'
import { Setup } from './Setup'
import { TradesView } from './TradesView'

export function RunPage() {
  const { jobId } = useParams({ from: '/app/runs/$jobId' })
  // Selections on the page of one run do not apply to another.
  return <Run key={jobId} jobId={jobId} />
}

function Run({ jobId }: { jobId: string }) {
  const t = useText()
  const search = useSearch({ from: '/app/runs/$jobId' })
  const navigate = useNavigate({ from: '/app/runs/$jobId' })
  const jobResult = useQuery(jobQuery(jobId))
  // Fetched in parallel with the job, because they are shown first.
  const curves = useQuery(curvesQuery(jobId))
  const running = jobResult.data !== undefined && !hasStopped(jobResult.data.status)
  const connection = useLiveJob(jobId, running)
  const tab = search.tab ?? 'performance'
  const format = useFormat()
  useTitle(jobResult.data ? datedRunTitle(jobResult.data, format, t) : t('run.title'))

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
  const branch = (open: boolean) => void navigate({ search: (now) => (open ? { ...now, branch: true } : withoutBranch(now)), replace: !open })
  const change = (part: RunSearch) => void navigate({ search: (now) => ({ ...now, ...part }), replace: true, resetScroll: false })
  return (
    <div className="page">
      <RunHead job={job} connection={connection} stopping={curves.data?.cancel_requested ?? false} onBranch={() => branch(true)} onDeleted={() => void navigate({ to: '/app/runs' })} />
      <Notices job={job} connection={connection} curves={curves.data} />
      <Tabs<Tab>
        label={t('run.tabs')}
        value={tab}
        onChange={(next) => void navigate({ search: (now) => ({ ...withoutBranch(now), tab: next === 'performance' ? undefined : next }), replace: true })}
        choices={TABS.map((value) => ({ value, label: t(`run.tab.${value}`) }))}
      >
        <SelectedTab tab={tab} job={job} curves={curves} search={search} onChange={change} />
      </Tabs>
      <Operate>{search.branch && <BranchForm job={job} dates={curves.data?.dates ?? NO_DATES} agent={search.agent} date={search.date} node={search.node} onClose={() => branch(false)} />}</Operate>
    </div>
  )
}

const NO_DATES: string[] = []

interface TabProps {
  job: Job
  curves: UseQueryResult<Curves>
  search: RunSearch
  onChange: (part: RunSearch) => void
}

function SelectedTab({ tab, ...props }: TabProps & { tab: Tab }) {
  const { job, curves, search, onChange } = props
  switch (tab) {
    case 'trades':
      return <TradesView job={job} curves={curves.data} search={search} onChange={onChange} />
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
      return <PerformanceTab {...props} />
  }
}

function PerformanceTab({ job, curves, search: { benchmark = '', days }, onChange }: TabProps) {
  const t = useText()
  // Metrics of several years take longer and must not delay the curves. Before the first close there are none.
  const hasResults = curves.data !== undefined && hasClosed(curves.data)
  const results = useQuery({ ...jobResults(job.job_id, benchmark), enabled: hasResults, placeholderData: keepPreviousData })
  // The days follow once the metrics are there.
  const daily = useQuery({ ...jobResults(job.job_id, benchmark, 'all'), enabled: results.data != null && !results.isPlaceholderData, placeholderData: keepPreviousData })
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
  return (
    <Performance
      job={job}
      curves={curves.data}
      results={results}
      daily={daily}
      zone={dataset.data?.zone ?? null}
      pick={<BenchmarkPick job={job} value={benchmark} onChange={(symbol) => onChange({ benchmark: symbol === '' ? undefined : symbol })} />}
      isFullOnly={days === 'full'}
      onFullOnly={(isFullOnly) => onChange({ days: isFullOnly ? 'full' : undefined })}
    />
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
