import { Link, useNavigate } from '@tanstack/react-router'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { sessionHead } from '@/server/sessions'
import type { DayResult, Job, NodeRule, Session, SessionHeadResponse, Status } from '@/server/types'
import { ABSENT, signClass, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { isTyping } from '@/shared/keys'
import { datedRunTitle } from '@/shared/runTitle'
import { Icon } from '@/shared/ui/icons'
import { Stat, HouseTag, StatusMark, Tag } from '@/shared/ui/parts'
import { MaskedTag } from '@/shared/ui/evidenceMarks'
import { UnverifiedTag } from '@/shared/ui/pointInTime'
import { Books, QualityTag, qualityOf } from '@/shared/ui/quality'
import { nodeTable } from './desk'
import css from './session.module.css'

interface Props {
  job: Job
  status: Status
  date: string
  model: string
  session: Session | null
  day: DayResult | null
  rules: NodeRule[]
  connection: string
}

/** The header of a session: day, agent, results, and links to the previous and next day. */
export function SessionHead({ job, status, date, model, session, day, rules, connection }: Props) {
  const t = useText()
  const format = useFormat()
  const market = job.simulation?.market ?? null
  const dates = status.date_range
  const at = dates.indexOf(date)
  const previous = at > 0 ? dates[at - 1] : undefined
  const next = at >= 0 ? dates[at + 1] : undefined
  useDayKeys(job.job_id, model, previous, next)
  const detail = status.details.find((one) => one.date === date && one.model === model)
  const head = useQuery({ ...sessionHead(session?.session_id ?? 0), enabled: session?.status === 'completed' })
  const isLlm = session?.is_llm ?? job.simulation?.agents.find((agent) => agent.name === model)?.is_llm
  return (
    <div className="page-head">
      <div className="grow">
        <div className="crumbs">
          <Link to="/app/runs">{t('nav.runs')}</Link>
          <span>/</span>
          <Link to="/app/runs/$jobId" params={{ jobId: job.job_id }}>
            {datedRunTitle(job, format, t)}
          </Link>
        </div>
        <h1 className="row wrap">
          <time className="tnum" dateTime={date}>
            {format.day(date)}
          </time>
          <span className="second title-span">{format.weekday(date)}</span>
          <span className="title-span">{model}</span>
          <HouseTag isLlm={isLlm} />
        </h1>
        <div className="facts">
          <StatusMark status={session?.status ?? detail?.status ?? 'queued'} />
          {connection === 'live' && session?.status === 'running' && <span className="live">{t('live.on')}</span>}
          {connection === 'broken' && <Tag kind="warn">{t('live.broken')}</Tag>}
          <QualityTag quality={qualityOf(day?.provenance.data_quality)} />
          {day?.insolvent && <Tag kind="bad">{t('orders.insolvent', { since: format.day(day.insolvent.since) })}</Tag>}
          <UnverifiedTag provenance={day?.provenance} />
          <MaskedTag masked={day?.masked} />
          {session?.total_messages != null && <span className="tnum">{t('session.messages', { count: session.total_messages })}</span>}
          {session?.completed_at && <span className="tnum">{format.duration((Date.parse(session.completed_at) - Date.parse(session.started_at)) / 1000)}</span>}
        </div>
        {head.data && head.data.decisions.length > 0 && <Decisions head={head.data} jobId={job.job_id} rules={rules} />}
        {session && (
          <p>
            <Books books={session.books} />
          </p>
        )}
        {session?.session_summary && <p className={css.sessionSummary}>{session.session_summary}</p>}
        {!session?.session_summary && session?.summary_error && <p className="quiet">{t('session.no.summary', { why: session.summary_error })}</p>}
      </div>
      <dl className="figures">
        <Stat name={t('session.profit')} value={format.gain(day?.daily_metrics.profit, market)} note={day?.daily_metrics.return_pct == null ? undefined : format.change(day.daily_metrics.return_pct / 100)} tone={signClass(day?.daily_metrics.profit)} />
        <Stat name={t('session.value')} value={format.money(day?.final_position?.portfolio_value ?? day?.starting_position?.portfolio_value, market)} note={t('session.cash', { cash: format.money(day?.final_position?.cash ?? day?.starting_position?.cash, market, 0) })} />
        <Stat name={t('session.holds')} value={<Holdings day={day} />} />
      </dl>
      <div className="row">
        <DayLink jobId={job.job_id} model={model} date={previous} label={t('keys.previous')} icon="left" />
        <DayLink jobId={job.job_id} model={model} date={next} label={t('keys.next')} icon="right" />
      </div>
    </div>
  )
}

/** A desk's decision for each instrument, with a link to the node that made it. */
function Decisions({ head, jobId, rules }: { head: SessionHeadResponse; jobId: string; rules: NodeRule[] }) {
  const t = useText()
  const decider = useMemo(() => nodeTable(rules).decider, [rules])
  return (
    <p className={`${css.decisions} row wrap`} aria-label={t('session.decisions')}>
      {head.decisions.map((one) => (
        <Link
          key={one.symbol}
          to="/app/runs/$jobId/$date/$model"
          params={{ jobId, date: head.date, model: head.model }}
          search={decider ? { symbol: one.symbol, node: `${one.symbol}/${decider.name}#1` } : { symbol: one.symbol }}
          title={t('session.decisions.why', { action: one.action ?? ABSENT, recommendation: one.recommendation ?? ABSENT })}
        >
          {one.symbol} <b className={`rating ${one.rating ?? 'none'}`}>{one.rating ?? t('session.undecided')}</b>
        </Link>
      ))}
    </p>
  )
}

function Holdings({ day }: { day: DayResult | null }) {
  const t = useText()
  const format = useFormat()
  const holdings = day?.final_position?.holdings ?? day?.starting_position?.holdings ?? []
  if (holdings.length === 0) return <span className="second">{day?.final_position || day?.starting_position ? t('session.holds.nothing') : '–'}</span>
  return (
    <span className={css.holdings}>
      {holdings.slice(0, 4).map((one) => (
        <span key={one.symbol}>
          {format.quantity(one.quantity)} {one.symbol}
        </span>
      ))}
      {holdings.length > 4 && <span className="quiet">+{holdings.length - 4}</span>}
    </span>
  )
}

interface DayLinkProps {
  jobId: string
  model: string
  date: string | undefined
  label: string
  icon: 'left' | 'right'
}

function DayLink({ jobId, model, date, label, icon }: DayLinkProps) {
  const format = useFormat()
  if (date === undefined) {
    return (
      <button type="button" className="button" disabled aria-label={label}>
        <Icon name={icon} />
      </button>
    )
  }
  return (
    <Link to="/app/runs/$jobId/$date/$model" params={{ jobId, date, model }} search={(now) => ({ ...now, order: undefined, at: undefined, item: undefined })} className="button" aria-label={`${label}: ${format.day(date)}`} title={format.day(date)}>
      <Icon name={icon} />
    </Link>
  )
}

/** `[` and `]` open the previous and next day. */
function useDayKeys(jobId: string, model: string, previous: string | undefined, next: string | undefined): void {
  const navigate = useNavigate()
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (isTyping(event)) return
      const date = event.key === '[' ? previous : event.key === ']' ? next : undefined
      if (date === undefined) return
      void navigate({ to: '/app/runs/$jobId/$date/$model', params: { jobId, date, model }, search: (now) => ({ ...now, order: undefined, at: undefined, item: undefined }) })
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  }, [navigate, jobId, model, previous, next])
}
