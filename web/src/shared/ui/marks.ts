// What a reader must know of a result before its numbers, as texts with their explanations. No React.
import type { Metrics, PointInTimeReason, RangeResult } from '@/server/types'
import type { Format } from '../format'
import { textOr, type Translate } from '../i18n'

export interface Mark {
  key: string
  kind?: 'warn' | 'bad'
  text: string
  title?: string
}

export interface PointInTime {
  point_in_time?: string | null
  point_in_time_reason?: PointInTimeReason | null
}

/** Metrics per year need this many days. */
const MIN_ANNUALIZED_DAYS = 60

export function insolventMarks(since: string | null | undefined, t: Translate, format: Format): Mark[] {
  return since ? [{ key: 'insolvent', kind: 'bad', text: t('orders.insolvent', { since: format.day(since) }) }] : []
}

/** That a day is point-in-time unverified, and why. */
export function unverifiedMarks(provenance: PointInTime | null | undefined, t: Translate): Mark[] {
  if (provenance?.point_in_time !== 'unverified') return []
  const reason = provenance.point_in_time_reason
  return [{ key: 'unverified', kind: 'warn', text: t('quality.unverified'), ...(reason && { title: textOr(t, `unverified.${reason.kind}`, reason.kind) }) }]
}

/** That a run is masked, and what of it is shown under real names and dates. */
export function maskedMarks(mask: string | null | undefined, t: Translate): Mark[] {
  return mask && mask !== 'none' ? [{ key: 'masked', kind: 'warn', text: t('marks.masked', { mask }), title: t('marks.masked.what') }] : []
}

/** That days of a result lie before a model’s stated training cut-off, or that the cut-off is not known. */
export function cutoffMarks({ training_cutoffs: cutoffs }: Pick<RangeResult, 'training_cutoffs'>, t: Translate, format: Format): Mark[] {
  return cutoffs.flatMap(({ model, date, days, days_before: before }): Mark[] => {
    if (before === 0) return []
    const key = `cutoff ${model}`
    return before == null || !date
      ? [{ key, text: t('marks.cutoff.unknown'), title: t('marks.cutoff.unknown.what', { model }) }]
      : [{ key, kind: 'warn', text: t('marks.cutoff'), title: t('marks.cutoff.what', { model, before, days, date: format.day(date) }) }]
  })
}

/** That nothing is annualized. */
export function fewDaysMarks(days: number, t: Translate): Mark[] {
  return days < MIN_ANNUALIZED_DAYS ? [{ key: 'few', text: t('marks.few'), title: t('marks.few.what', { days }) }] : []
}

/** That the model cost of a run is unknown. */
export function costMarks(isUnknown: boolean, t: Translate): Mark[] {
  return isUnknown ? [{ key: 'cost', kind: 'warn', text: t('cost.unknown'), title: t('marks.cost.what') }] : []
}

/** All of a result, except for its degraded days. Without other metrics, those of all days. */
export function resultMarks(result: RangeResult, t: Translate, format: Format, metrics: Metrics = result.period_metrics): Mark[] {
  return [
    ...insolventMarks(result.insolvent?.since, t, format),
    ...unverifiedMarks(result.provenance, t),
    ...maskedMarks(result.masked?.mask, t),
    ...cutoffMarks(result, t, format),
    ...(metrics.annualized_unavailable === 'too_few_days' ? fewDaysMarks(metrics.days, t) : []),
  ]
}
