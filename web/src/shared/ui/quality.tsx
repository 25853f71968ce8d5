// Research quality, in a word: what degraded stands out, what is full stays quiet.
import type { DataQuality, Research } from '@/server/types'
import { useFormat } from '../format'
import { useText } from '../i18n'
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
  const why = (quality.reason_codes ?? []).map((code) => `${reasons.whole(code)} (${code})`).join('; ')
  return (
    <Tag kind="warn" title={why}>
      {quality.state === 'research_degraded' ? t('quality.research') : t('quality.node')}
    </Tag>
  )
}

/** How many of the days are of full research. */
export function QualityShare({ full, total }: { full: number; total: number }) {
  const t = useText()
  const format = useFormat()
  if (total === 0) return null
  if (full === total) return <span className="second nowrap">{t('quality.all')}</span>
  return (
    <Tag kind="warn" title={t('quality.share.title', { full, total })}>
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
