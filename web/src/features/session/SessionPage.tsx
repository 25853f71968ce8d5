// One agent on one day. Opens on its decision; everything that led to it is one click away.
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useLiveJob } from '@/server/live'
import { dayResult, dayStatus, job as jobQuery, options } from '@/server/queries'
import { session as sessionQuery } from '@/server/sessions'
import { type DayDetail, type DayResult, hasStopped, type Job, type NodeRule, type Session } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { isMissing } from '@/shared/missing'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { DegradedNote } from './DegradedNote'
import { DeskPanel } from './DeskPanel'
import { ReviewPanel } from './ReviewPanel'
import { SessionHead } from './SessionHead'
import { SessionViews } from './SessionViews'
import { TimePanel } from './TimePanel'
import { useReading } from './useReading'

export function SessionPage() {
  const t = useText()
  const { jobId, date, model } = useParams({ from: '/app/runs/$jobId/$date/$model' })
  const job = useQuery(jobQuery(jobId))
  const running = job.data !== undefined && !hasStopped(job.data.status)
  const connection = useLiveJob(jobId, running)
  const status = useQuery(dayStatus(jobId, date, model))
  const detail = status.data?.details.find((one) => one.date === date && one.model === model)
  // Neither exists before the session. When it starts, the status changes and both are requested.
  const needsSession = status.data !== undefined && hasSession(detail)
  const needsDay = needsSession || detail?.status === 'skipped'
  const session = useQuery({ ...sessionQuery(jobId, date, model), enabled: needsSession })
  const day = useQuery({ ...dayResult(jobId, date, model), enabled: needsDay })
  const offered = useQuery(options())

  if (job.isPending || status.isPending || offered.isPending || (needsSession && session.isPending) || (needsDay && day.isPending)) return <Page><Loading rows={12} /></Page>
  if (isMissing(job.error)) {
    return (
      <Page>
        <Empty title={t('run.missing')} isPage>
          <Link to="/app/runs">{t('run.missing.all')}</Link>
        </Empty>
      </Page>
    )
  }
  const error = job.error ?? session.error ?? status.error ?? day.error ?? offered.error
  if (!job.data || !status.data || !offered.data || (error && !session.data)) {
    const retry = () => void Promise.all([job.refetch(), status.refetch(), offered.refetch(), ...(needsSession ? [session.refetch()] : []), ...(needsDay ? [day.refetch()] : [])])
    return <Page><Failed error={error} retry={retry} /></Page>
  }
  return (
    <Page>
      <SessionHead job={job.data} status={status.data} date={date} model={model} session={session.data ?? null} day={day.data ?? null} rules={offered.data.nodes} connection={connection} />
      {session.data ? (
        <Body key={session.data.session_id} job={job.data} head={session.data} day={day.data ?? null} rules={offered.data.nodes} />
      ) : (
        <NotStarted detail={detail} date={date} model={model} doneBefore={day.data?.done_before[0]?.job_id} />
      )}
    </Page>
  )
}

/** Whether a day has a session. A day that was resumed waits with one; a session that was imported has no such day. */
function hasSession(detail: DayDetail | undefined): boolean {
  return !detail || detail.started_at != null || detail.status === 'running' || detail.status === 'completed'
}

function Page({ children }: { children: ReactNode }) {
  return <div className="page">{children}</div>
}

interface NotStartedProps {
  detail: DayDetail | undefined
  date: string
  model: string
  /** The run that completed the day. */
  doneBefore: string | undefined
}

function NotStarted({ detail, date, model, doneBefore }: NotStartedProps) {
  const t = useText()
  const format = useFormat()
  if (!detail) return <Empty title={t('session.no.day', { date: format.day(date) })} />
  return (
    <Empty title={detail.status === 'skipped' ? t('session.skipped') : t('session.not.begun')}>
      <p className="second">{detail.error ?? (detail.status === 'skipped' ? t('session.skipped.why') : t('session.not.begun.why'))}</p>
      {doneBefore && (
        <Link to="/app/runs/$jobId/$date/$model" params={{ jobId: doneBefore, date, model }}>
          {t('reading.done.before', { job: doneBefore.slice(0, 13) })}
        </Link>
      )}
    </Empty>
  )
}

function Body({ job, head, day, rules }: { job: Job; head: Session; day: DayResult | null; rules: NodeRule[] }) {
  const t = useText()
  const reading = useReading(job, head, day, rules)
  return (
    <>
      {day?.metadata.error && (
        <Note kind="bad" title={t('session.failed')}>
          {day.metadata.error}
        </Note>
      )}
      <DegradedNote reading={reading} />
      <DeskPanel reading={reading} />
      <SessionViews reading={reading} />
      <ReviewPanel session={head} />
      <TimePanel reading={reading} />
    </>
  )
}
