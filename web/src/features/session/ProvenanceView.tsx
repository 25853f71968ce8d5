// The provenance of a day's research, and its data quality.
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { sessionLive } from '@/server/sessions'
import { conversationEnd, degradationsOf, ignoredFields, researchFields } from '@/server/recorded'
import type { DayResult, Degradation, Job, Session } from '@/server/types'
import { fileName } from '@/shared/fileName'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode, useReasons } from '@/shared/i18n/codes'
import { Pairs, Tag } from '@/shared/ui/parts'
import { UnverifiedReason } from '@/shared/ui/pointInTime'
import { QualityTag, qualityOf, researchOf } from '@/shared/ui/quality'
import { Empty } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import css from './session.module.css'

interface Props {
  job: Job
  session: Session
  day: DayResult | null
  symbol: string | null
}

export function ProvenanceView({ job, session, day, symbol }: Props) {
  const t = useText()
  const word = useWord()
  const code = useCode()
  const reasons = useReasons()
  const format = useFormat()
  const live = useQuery(sessionLive(job.job_id, session.session_id, symbol ?? ''))
  if (!day) return <Empty title={t('session.open')} />
  const { provenance, metadata } = day
  const research = researchOf(researchFields(day, symbol))
  const quality = qualityOf(provenance.data_quality)
  const degradations = degradationsOf(day)
  const missing = Object.entries(quality?.sources_missing ?? {})
  const notes = ignoredFields(day)
  const result = live.data?.result
  const conversation = conversationEnd(day)
  const rows: ([string, ReactNode] | null)[] = [
    [t('provenance.kind'), `${word('kind', metadata.agent_kind ?? '')} · ${metadata.model ?? ''}`],
    [t('provenance.quality'), <QualityTag key="quality" quality={quality} />],
    [t('provenance.sample'), metadata.sample_quality ? <span title={metadata.sample_quality}>{word('provenance', metadata.sample_quality)}</span> : '–'],
    [t('provenance.time'), provenance.point_in_time === 'unverified' ? <Tag kind="warn">{t('quality.unverified')}</Tag> : t('quality.verified')],
    provenance.point_in_time_reason ? [t('provenance.time.reason'), <UnverifiedReason key="time" reason={provenance.point_in_time_reason} />] : null,
    conversation ? [t('provenance.end'), `${conversation.end ? word('provenance', conversation.end) : '–'} · ${t('provenance.steps', { count: conversation.steps })}`] : null,
  ]
  if (research) {
    rows.push(
      [t('provenance.research'), <span key="status" title={`research_status: ${research.research_status}`}>{word('provenance', research.research_status)}</span>],
      [t('provenance.mode'), <span key="mode" title={`research_mode: ${research.research_mode}`}>{word('provenance', research.research_mode)}</span>],
      [t('provenance.covered'), <span key="covered" title={`covered_dimensions: ${research.covered_dimensions.join(', ')}`}>{research.covered_dimensions.map((one) => word('provenance', one)).join(', ') || '–'}</span>],
      [t('provenance.manager.confidence'), research.manager_confidence === null ? '–' : format.ratio(research.manager_confidence)],
      [t('provenance.timed.out'), research.timed_out_nodes.map((one) => word('node', one)).join(', ') || '–'],
      [t('provenance.reason'), research.degraded_reason ? <span key="reason" title={research.degraded_reason}>{reasons.full(research.degraded_reason)}</span> : '–'],
    )
  }
  const lost: Column<Degradation>[] = [
    { id: 'symbol', label: t('word.symbol'), sort: (one) => one.symbol, cell: (one) => one.symbol },
    { id: 'node', label: t('provenance.node'), sort: (one) => one.node, cell: (one) => word('node', one.node) },
    {
      id: 'kind',
      label: t('calls.outcome'),
      sort: (one) => one.kind,
      cell: (one) => (
        <Tag kind="warn" title={one.kind}>
          {one.kind === 'timeout' ? code('node_failure', 'timeout') : code('outcome', 'failed')}
        </Tag>
      ),
    },
    { id: 'reason', label: t('word.reason'), sort: (one) => one.reason, cell: (one) => <span title={one.reason}>{reasons.why(one.reason)}</span> },
    { id: 'elapsed_ms', label: t('calls.took'), num: true, sort: (one) => one.elapsed_ms, cell: (one) => (one.elapsed_ms == null ? '–' : format.duration(one.elapsed_ms / 1000)) },
  ]
  return (
    <div className={`panel-body stack sections ${css.tall}`}>
      {result && (
        <dl className="figures">
          <div className="figure">
            <dt>{t('provenance.rating', { symbol: symbol ?? '' })}</dt>
            <dd>{result.rating}</dd>
          </div>
          <div className="figure">
            <dt>{t('provenance.direction')}</dt>
            <dd>{result.direction > 0 ? '↑' : result.direction < 0 ? '↓' : '→'}</dd>
          </div>
          <div className="figure">
            <dt>{t('provenance.confidence')}</dt>
            <dd>{format.ratio(result.confidence)}</dd>
          </div>
        </dl>
      )}
      {live.data?.error && (
        <p className="down" title={live.data.error.code}>
          {reasons.full(live.data.error.code, live.data.error.message)}
        </p>
      )}
      <Pairs rows={rows} />
      {degradations.length > 0 && (
        <section>
          <h2 className="table-title">{t('provenance.lost')}</h2>
          <SortTable label={t('provenance.lost')} name={fileName('degradations', session.date, session.model)} columns={lost} rows={degradations} rowKey={(one) => `${one.symbol ?? ''} ${one.node} ${one.reason}`} />
        </section>
      )}
      {missing.length > 0 && (
        <section>
          <h2 className="table-title">{t('provenance.missing')}</h2>
          <Pairs rows={missing.map(([name, why]) => [name, why] as const)} />
        </section>
      )}
      {notes.length > 0 && (
        <section>
          <h2 className="table-title">{t('provenance.notes')}</h2>
          <Pairs rows={notes.map((one) => [`${one.symbol} · ${word('node', one.node)}`, one.note] as const)} />
        </section>
      )}
    </div>
  )
}
