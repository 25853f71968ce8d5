import type { RangeResult } from '@/server/types'
import { useFormat } from '../format'
import { useText } from '../i18n'
import { CutoffTags, MaskedTag } from './evidenceMarks'
import { Tag } from './parts'
import { UnverifiedTag } from './pointInTime'
import { QualityShare } from './quality'

/** What a reader must know of a result before its numbers: insolvent, degraded, unverified, too few days. */
export function ResultMarks({ result }: { result: RangeResult }) {
  const t = useText()
  const format = useFormat()
  const { insolvent, full_research: full, provenance, period_metrics: metrics } = result
  return (
    <>
      {insolvent && <Tag kind="bad">{t('orders.insolvent', { since: format.day(insolvent.since) })}</Tag>}
      <QualityShare full={full.days} total={full.total_days} first={provenance.reasons[0]} />
      <UnverifiedTag provenance={provenance} />
      <MaskedTag masked={result.masked} />
      <CutoffTags result={result} />
      {metrics.annualized_unavailable === 'too_few_days' && <Tag title={t('marks.few.what', { days: metrics.days })}>{t('marks.few')}</Tag>}
    </>
  )
}
