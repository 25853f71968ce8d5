// The audit of a job: whether its sessions depend on data from after their instants. Runs on request.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { audit } from '@/server/judging'
import type { AuditedSession, AuditFinding, AuditSummary } from '@/server/types'
import { useRunZone } from '@/server/zone'
import { useFormat } from '@/shared/format'
import { shortId } from '@/shared/ids'
import { type TextKey, useText } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import { Failed, Loading } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import css from './audit.module.css'

const VERDICTS = ['verified', 'failed', 'unverifiable', 'unfinished'] as const
const KINDS: Record<(typeof VERDICTS)[number], 'bad' | 'warn' | undefined> = { verified: undefined, failed: 'bad', unverifiable: 'warn', unfinished: 'warn' }

export function AuditPanel({ jobId }: { jobId: string }) {
  const t = useText()
  const [requested, setRequested] = useState(false)
  const [onlyProblems, setOnlyProblems] = useState(false)
  const query = useInfiniteQuery({ ...audit(jobId), enabled: requested })
  const pages = query.data?.pages ?? []
  const found = pages.flatMap((page) => (page ? [page] : []))
  const sessions = found.flatMap((page) => page.sessions)
  const total = found[0]?.total ?? 0
  const summary = sumOf(found.map((page) => page.summary))
  const visible = onlyProblems ? sessions.filter((session) => session.verdict !== 'verified') : sessions
  const start = () => (requested ? void query.fetchNextPage() : setRequested(true))
  return (
    <section className="panel" aria-label={t('audit.title')}>
      <div className="panel-head">
        <h2>{t('audit.title')}</h2>
        <span className="second grow">{t('audit.what')}</span>
        {sessions.length > 0 && (
          <label className="check">
            <input type="checkbox" checked={onlyProblems} onChange={() => setOnlyProblems(!onlyProblems)} />
            {t('audit.only')}
          </label>
        )}
        {(!requested || query.hasNextPage) && (
          <button type="button" className="button small" disabled={query.isFetching} onClick={start}>
            {query.isFetching ? t('audit.running') : t(requested ? 'audit.more' : 'audit.run')}
          </button>
        )}
      </div>
      {requested && query.isPending && <Loading rows={4} />}
      {query.error && sessions.length === 0 && <Failed error={query.error} retry={() => void query.refetch()} />}
      {pages.length > 0 && found.length === 0 && <p className="panel-body second">{t('audit.none')}</p>}
      {sessions.length > 0 && (
        <>
          <p className={`panel-body row wrap ${css.summary}`} role="status">
            <span>{t('audit.done', { count: sessions.length, total })}</span>
            {VERDICTS.filter((verdict) => summary[verdict] > 0).map((verdict) => (
              <Tag key={verdict} kind={KINDS[verdict]}>
                {t(`audit.${verdict}`, { count: summary[verdict] })}
              </Tag>
            ))}
            {summary.verified > 0 && summary.failed === 0 && sessions.length === total && summary.verified === total && <span className="second">{t('audit.clean')}</span>}
            {summary.verified === 0 && summary.failed === 0 && <span className="second">{t('audit.nothing')}</span>}
          </p>
          <Sessions jobId={jobId} sessions={visible} note={sessions.length < total ? t('audit.file', { count: sessions.length, total }) : undefined} />
          {query.error && <Failed error={query.error} retry={() => void query.fetchNextPage()} />}
        </>
      )}
    </section>
  )
}

function sumOf(parts: AuditSummary[]): AuditSummary {
  const total: AuditSummary = { verified: 0, failed: 0, unverifiable: 0, unfinished: 0 }
  for (const part of parts) for (const verdict of VERDICTS) total[verdict] += part[verdict]
  return total
}

interface SessionsProps {
  jobId: string
  sessions: AuditedSession[]
  /** What the file lacks. */
  note: string | undefined
}

function Sessions({ jobId, sessions, note }: SessionsProps) {
  const t = useText()
  const format = useFormat()
  const { zone } = useRunZone(jobId)
  const paramsOf = (session: AuditedSession) => ({ jobId, date: session.date, model: session.model })
  const columns: Column<AuditedSession>[] = [
    {
      id: 'date',
      label: t('word.day'),
      stays: true,
      sort: (session) => session.date,
      csv: { job_id: () => jobId, date: (session) => session.date },
      className: () => 'nowrap tnum',
      cell: (session) => (
        <Link to="/app/runs/$jobId/$date/$model" params={paramsOf(session)}>
          {format.day(session.date)}
        </Link>
      ),
    },
    { id: 'agent', label: t('runs.agent'), sort: (session) => session.model, cell: (session) => session.model },
    { id: 'steps', label: t('audit.column.steps'), num: true, sort: (session) => session.steps, cell: (session) => format.count(session.steps) },
    { id: 'reads', label: t('audit.column.reads'), num: true, sort: (session) => session.reads, cell: (session) => format.count(session.reads) },
    { id: 'rows', label: t('audit.column.rows'), num: true, sort: (session) => session.rows, cell: (session) => format.count(session.rows) },
    {
      id: 'newest',
      label: t('shown.newest'),
      sort: (session) => session.newest_at_open?.known_at,
      csv: {
        newest_series_at_open: ({ newest_at_open: newest }) => newest?.series,
        newest_known_at_open: ({ newest_at_open: newest }) => newest?.known_at,
        newest_series_at_close: ({ newest_at_close: newest }) => newest?.series,
        newest_known_at_close: ({ newest_at_close: newest }) => newest?.known_at,
      },
      className: () => 'nowrap tnum second',
      cell: ({ newest_at_open: newest }) => {
        if (!newest) return null
        const at = format.instantIn(newest.known_at, zone)
        return <span title={t('audit.newest', { series: newest.series, at })}>{at}</span>
      },
    },
    { id: 'reason', label: t('word.reason'), csv: { reason: (session) => session.reason?.message }, className: () => 'second', cell: (session) => <span lang="en">{session.reason?.message}</span> },
    {
      id: 'verdict',
      label: t('compare.verdict'),
      stays: 'end',
      sort: (session) => VERDICTS.indexOf(session.verdict),
      csv: { verdict: (session) => session.verdict, findings: (session) => session.findings.map((finding) => [finding.kind, finding.path, finding.message].filter(Boolean).join(' ')).join('\n') },
      cell: (session) => <Tag kind={KINDS[session.verdict]}>{t(`audit.verdict.${session.verdict}`)}</Tag>,
    },
  ]
  return (
    <SortTable
      label={t('audit.title')}
      name={`audit-${shortId(jobId)}`}
      columns={columns}
      rows={sessions}
      rowKey={(session) => `${session.date} ${session.model}`}
      note={note}
      detail={(session) => session.findings.length > 0 && session.findings.map((finding, index) => <Finding key={index} finding={finding} params={paramsOf(session)} />)}
    />
  )
}

function Finding({ finding, params }: { finding: AuditFinding; params: { jobId: string; date: string; model: string } }) {
  const t = useText()
  const kind: TextKey = `audit.kind.${finding.kind}`
  return (
    <div className={css.finding}>
      <p>
        <b>{t(kind)}</b>{' '}
        {finding.path && (
          <Link to="/app/runs/$jobId/$date/$model" params={params} search={{ at: finding.path }} className="mono">
            {finding.path}
          </Link>
        )}{' '}
        <span lang="en">{finding.message}</span>
      </p>
      {(finding.recorded != null || finding.recomputed != null) && (
        <dl className="pairs mono">
          <dt>{t('audit.recorded')}</dt>
          <dd>{finding.recorded ?? '–'}</dd>
          <dt>{t('audit.recomputed')}</dt>
          <dd>{finding.recomputed ?? '–'}</dd>
        </dl>
      )}
    </div>
  )
}
