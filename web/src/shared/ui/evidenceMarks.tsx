import type { RangeResult } from '@/server/types'
import { useFormat } from '../format'
import { useText } from '../i18n'
import { Tag } from './parts'

/** That a run is masked, and what of it is shown under real names and dates. */
export function MaskedTag({ masked }: { masked: { mask: string } | null | undefined }) {
  const t = useText()
  return masked ? (
    <Tag kind="warn" title={t('marks.masked.what')}>
      {t('marks.masked', { mask: masked.mask })}
    </Tag>
  ) : null
}

/** That days of a result lie before a model’s stated training cut-off, or that the cut-off is not known. */
export function CutoffTags({ result }: { result: Pick<RangeResult, 'training_cutoffs'> }) {
  const t = useText()
  const format = useFormat()
  return result.training_cutoffs.map(({ model, date, days, days_before: before }) => {
    if (before === 0) return null
    return before == null || !date ? (
      <Tag key={model} title={t('marks.cutoff.unknown.what', { model })}>
        {t('marks.cutoff.unknown')}
      </Tag>
    ) : (
      <Tag key={model} kind="warn" title={t('marks.cutoff.what', { model, before, days, date: format.day(date) })}>
        {t('marks.cutoff')}
      </Tag>
    )
  })
}
