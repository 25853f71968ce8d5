// Research quality: degraded results stand out, full ones do not.
import type { BooksFacts, DataQuality, DegradedDay, JobQuality, Research, Usage } from '@/server/types'
import { useFormat } from '../format'
import { type Translate, useText } from '../i18n'
import { useReasons } from '../i18n/codes'
import { Tag } from './parts'

export function QualityTag({ quality }: { quality: DataQuality | null | undefined }) {
  const t = useText()
  const reasons = useReasons()
  if (!quality) return null
  if (quality.state === 'ok') {
    const missing = Object.keys(quality.sources_missing ?? {})
    if (missing.length === 0) return <Tag>{t('quality.full')}</Tag>
    return <Tag title={missing.join(', ')}>{t('quality.full.missing', { count: missing.length })}</Tag>
  }
  const why = (quality.reason_codes ?? []).map((code) => `${reasons.full(code)} (${code})`).join('; ')
  return (
    <Tag kind={quality.state === 'failed' ? 'bad' : 'warn'} title={why}>
      {stateText(quality.state, t)}
    </Tag>
  )
}

/** The text of a quality state. */
export function stateText(state: string, t: Translate): string {
  switch (state) {
    case 'ok':
      return t('quality.full')
    case 'research_degraded':
      return t('quality.research')
    case 'no_decision':
      return t('quality.undecided')
    case 'failed':
      return t('quality.failed')
    default:
      return t('quality.node')
  }
}

/** The number of degraded and failed model-days of a job, with the first reason. Renders nothing if there are none. */
export function JobQualityTag({ quality }: { quality: JobQuality }) {
  const t = useText()
  const format = useFormat()
  const reasons = useReasons()
  const { first, degraded_days: degraded, failed_days: failed } = quality
  if (!first) return null
  const title = t('quality.first', {
    degraded,
    failed,
    model: first.model,
    date: format.day(first.date),
    state: stateText(first.state, t),
    reason: first.reason ? reasons.full(first.reason) : '–',
  })
  return (
    <>
      {failed > 0 && (
        <Tag kind="bad" title={title}>
          {t('runs.failed', { count: failed })}
        </Tag>
      )}
      {degraded > 0 && (
        <Tag kind="warn" title={title}>
          {t('quality.degraded.days', { count: degraded })}
        </Tag>
      )}
    </>
  )
}

/** Orders, fills and rejections of the ledger, shown next to a summary. */
export function Books({ books }: { books: BooksFacts }) {
  const t = useText()
  const { orders, fills, rejections } = books
  return (
    <span className="second tnum" title={t('books.title')}>
      {orders === 0 && fills === 0 ? t('books.none') : t('books.facts', { orders, fills, rejections })}
    </span>
  )
}

/** The model cost, or that it is unknown. */
export function useCost(): (usage: Usage) => string {
  const t = useText()
  const format = useFormat()
  return (usage) => {
    if (usage.cost_usd != null) return format.cost(usage.cost_usd)
    return usage.priced_cost_usd > 0 ? t('cost.unknown.over', { known: format.cost(usage.priced_cost_usd) }) : t('cost.unknown')
  }
}

/** The share of days with full research, and the first reason for the others. */
export function QualityShare({ full, total, first }: { full: number; total: number; first?: DegradedDay | undefined }) {
  const t = useText()
  const format = useFormat()
  const reasons = useReasons()
  const why = first && `${format.day(first.date)}, ${stateText(first.state, t)}: ${first.reason ? reasons.full(first.reason) : '–'}`
  if (total === 0) return null
  if (full === total) return <span className="second nowrap">{t('quality.all')}</span>
  return (
    <Tag kind="warn" title={[t('quality.share.title', { full, total }), why].filter(Boolean).join(' ')}>
      {t('quality.share', { full, total, percent: format.percent(full / total, 0) })}
    </Tag>
  )
}

export function researchOf(value: unknown): Research | null {
  return value && typeof value === 'object' && 'research_status' in value ? (value as Research) : null
}

export function qualityOf(value: unknown): DataQuality | null {
  return value && typeof value === 'object' && 'state' in value ? (value as DataQuality) : null
}
