// A job's log, as shown in chat, plans and runs.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type UIEvent, useEffect, useRef, useState } from 'react'
import type { LogEntry, LogJob } from '@/server/actions'
import type { Sources } from '@/server/jobLogFollower'
import { useJobLog } from '@/server/useJobLog'
import { download } from '@/shared/download'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { StatusMark, Tag } from '@/shared/ui/parts'
import { Loading, Note } from '@/shared/ui/states'
import { JsonView } from '@/transcript/JsonView'
import { asJson, asText } from './export'
import css from './jobLog.module.css'

export interface JobLogPanelProps {
  jobId: string
  /** The expected kind of job. A mismatch is labeled. */
  expectType?: string | undefined
  /** The job, if it is already loaded. */
  initialJob?: LogJob | null | undefined
  planId?: number | null | undefined
  /** Replaces pages, stream and waiting in tests. */
  sources?: Partial<Sources>
}

export function JobLogPanel({ jobId, expectType, initialJob, planId, sources }: JobLogPanelProps) {
  const t = useText()
  const log = useJobLog(jobId, initialJob, planId, sources)
  if (log.phase === 'missing') {
    return (
      <section className="panel panel-body" aria-label={t('log.title')}>
        <Note kind="bad" title={t('log.missing')}>
          {t('log.missing.why', { job: jobId })}
        </Note>
      </section>
    )
  }
  return (
    <section className={`panel ${css.jobLog}`} aria-label={t('log.title')}>
      <Head job={log.job} expectType={expectType} jobId={jobId} empty={log.logs.length === 0} phase={log.phase} all={log.all} />
      {log.phase === 'polling' && (
        <p className={css.line} role="status">
          {log.failures > 0 ? t('log.failing', { count: log.failures }) : t('log.polling')}
          {log.error && <span className="quiet"> {log.error}</span>}
        </p>
      )}
      {log.phase === 'lost' && (
        <div className="panel-body">
          <Note kind="bad" title={t('log.lost')}>
            <p>{log.error}</p>
            <button type="button" className="button small" onClick={log.retry}>
              {t('action.retry')}
            </button>
          </Note>
        </div>
      )}
      {log.phase === 'ended' && log.error && (
        <p className={`${css.line} down`} role="alert">
          {log.error}
        </p>
      )}
      {log.job?.error && <p className={`${css.line} down`}>{log.job.error}</p>}
      {!log.loaded ? (
        log.phase === 'lost' ? null : (
          <Loading rows={3} />
        )
      ) : (
        <Entries logs={log.logs} hasOlder={log.hasOlder} loadingOlder={log.loadingOlder} onOlder={log.loadOlder} follows={log.phase === 'live'} />
      )}
    </section>
  )
}

interface HeadProps {
  job: LogJob | null
  expectType?: string | undefined
  jobId: string
  empty: boolean
  phase: string
  all: () => Promise<LogEntry[]>
}

function Head({ job, expectType, jobId, empty, phase, all }: HeadProps) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const kind = job?.kind ?? expectType
  const [busy, setBusy] = useState(false)
  const [failed, setFailed] = useState<string | null>(null)
  // Export the complete log, not only the loaded rows.
  const write = async (form: 'json' | 'txt') => {
    setBusy(true)
    setFailed(null)
    try {
      const logs = await all()
      const text = form === 'json' ? asJson(job, logs) : asText(job, logs)
      download(`${jobId}.log.${form}`, text, form === 'json' ? 'application/json' : 'text/plain')
    } catch (error) {
      setFailed(error instanceof Error ? error.message : String(error))
    }
    setBusy(false)
  }
  return (
    <div className="panel-head">
      <h2>{kind ? word('kind', kind) : t('log.title')}</h2>
      {job && <StatusMark status={job.status} />}
      {phase === 'live' && <span className="live">{t('live.on')}</span>}
      {phase === 'ended' && <span className="quiet">{t('log.readonly')}</span>}
      {expectType && job?.kind && job.kind !== expectType && <Tag kind="warn">{t('log.unexpected', { kind: word('kind', expectType) })}</Tag>}
      <span className="second tnum grow">
        {job?.started_at && t('log.started', { at: format.instant(job.started_at) })}
        {job?.completed_at && ` · ${t('log.ended', { at: format.instant(job.completed_at) })}`}
      </span>
      {busy && (
        <span className="quiet" role="status">
          {t('log.exporting')}
        </span>
      )}
      {failed && (
        <span className="down" role="alert">
          {failed}
        </span>
      )}
      {(['json', 'txt'] as const).map((form) => {
        const name = form === 'json' ? 'JSON' : t('log.text')
        return (
          <button key={form} type="button" className="button small" disabled={empty || busy} title={t('log.export', { kind: name })} onClick={() => void write(form)}>
            <Icon name="export" />
            {name}
          </button>
        )
      })}
    </div>
  )
}

interface EntriesProps {
  logs: LogEntry[]
  hasOlder: boolean
  loadingOlder: boolean
  onOlder: () => void
  follows: boolean
}

function Entries({ logs, hasOlder, loadingOlder, onOlder, follows }: EntriesProps) {
  const t = useText()
  const box = useRef<HTMLDivElement>(null)
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const rows = useVirtualizer({
    count: logs.length,
    getScrollElement: () => box.current,
    estimateSize: () => 30,
    getItemKey: (index) => logs[index]?.sequence ?? index,
    overscan: 12,
  })
  const newest = logs[logs.length - 1]?.sequence ?? 0
  // If the user has scrolled up, do not scroll; report the number of new rows.
  const atEnd = useRef(true)
  const [lastSeen, setLastSeen] = useState(newest)
  const [scrolledUp, setScrolledUp] = useState(false)
  const toEnd = () => rows.scrollToIndex(logs.length - 1, { align: 'end' })
  useEffect(() => {
    if (follows && atEnd.current && logs.length > 0) toEnd()
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [follows, newest])
  const scrolled = (event: UIEvent<HTMLDivElement>) => {
    const { scrollTop, scrollHeight, clientHeight } = event.currentTarget
    atEnd.current = scrollHeight - scrollTop - clientHeight < 60
    if (atEnd.current || !scrolledUp) setLastSeen(newest)
    setScrolledUp(!atEnd.current)
  }
  const unread = follows && scrolledUp ? newest - lastSeen : 0
  const height = Math.min(420, rows.getTotalSize() + 1)

  if (logs.length === 0) return <p className="panel-body second">{t('log.empty')}</p>
  return (
    <>
      {hasOlder && (
        <div className={css.line}>
          <button type="button" className="button small" disabled={loadingOlder} onClick={onOlder}>
            {loadingOlder ? t('state.loading') : t('log.older')}
          </button>
          <span className="quiet tnum"> {t('log.shown', { count: logs.length })}</span>
        </div>
      )}
      {/* A scrollable region must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={css.box} ref={box} style={{ height }} tabIndex={0} role="log" aria-label={t('log.title')} onScroll={scrolled}>
        <div className="transcript-space" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const entry = logs[row.index]
            if (!entry) return null
            const toggle = () =>
              setOpen((now) => {
                const next = new Set(now)
                if (!next.delete(entry.sequence)) next.add(entry.sequence)
                return next
              })
            return (
              <div key={row.key} data-index={row.index} ref={rows.measureElement} className="transcript-row" style={{ transform: `translateY(${row.start}px)` }}>
                <EntryRow entry={entry} open={open.has(entry.sequence)} onToggle={toggle} />
              </div>
            )
          })}
        </div>
      </div>
      {unread > 0 && (
        <div className={css.line}>
          <button type="button" className="button small" onClick={toEnd}>
            <Icon name="down" />
            {t('log.newer', { count: unread })}
          </button>
        </div>
      )}
    </>
  )
}

function EntryRow({ entry, open, onToggle }: { entry: LogEntry; open: boolean; onToggle: () => void }) {
  const t = useText()
  const format = useFormat()
  const details = entry.details ?? null
  return (
    <div className={css.row} data-status={entry.status}>
      <span className="quiet num">{entry.sequence}</span>
      <time className="quiet tnum" dateTime={entry.created_at}>
        {format.clock(entry.created_at)}
      </time>
      <StatusMark status={entry.status} />
      <code>
        {entry.action_kind}/{entry.action_name}
      </code>
      <span className={`${css.message} ${entry.success === false ? 'down' : ''}`}>{entry.message}</span>
      {details !== null && (
        <button type="button" className="button small plain" aria-expanded={open} onClick={onToggle}>
          {t('log.details')}
        </button>
      )}
      {open && details !== null && (
        <div className={css.details}>
          <JsonView value={details} />
        </div>
      )}
    </div>
  )
}
