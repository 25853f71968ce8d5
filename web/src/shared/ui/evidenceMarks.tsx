import type { RangeResult } from '@/server/types'
import { useFormat } from '../format'
import { useText } from '../i18n'
import { cutoffMarks, maskedMarks } from './marks'
import { MarkTags } from './markTags'

/** That a run is masked, and what of it is shown under real names and dates. */
export function MaskedTag({ masked }: { masked: { mask: string } | null | undefined }) {
  return <MarkTags marks={maskedMarks(masked?.mask, useText())} />
}

/** That days of a result lie before a model’s stated training cut-off, or that the cut-off is not known. */
export function CutoffTags({ result }: { result: Pick<RangeResult, 'training_cutoffs'> }) {
  return <MarkTags marks={cutoffMarks(result, useText(), useFormat())} />
}
