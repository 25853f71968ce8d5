import type { Metrics, RangeResult } from '@/server/types'
import { useFormat } from '../format'
import { useText } from '../i18n'
import { costMarks, resultMarks } from './marks'
import { MarkTags } from './markTags'
import { QualityShare } from './quality'

interface Props {
  result: RangeResult
  /** The metrics shown next to the marks; by default, those of all days. */
  metrics?: Metrics | undefined
  /** Whether the model cost of the run is unknown. */
  isCostUnknown?: boolean
}

/** What a reader must know of a result before its numbers: insolvent, degraded, unverified, too few days, unknown cost. */
export function ResultMarks({ result, metrics, isCostUnknown = false }: Props) {
  const t = useText()
  const format = useFormat()
  const { full_research: full, provenance } = result
  return (
    <>
      <QualityShare full={full.days} total={full.total_days} first={provenance.reasons[0]} />
      <MarkTags marks={[...resultMarks(result, t, format, metrics), ...costMarks(isCostUnknown, t)]} />
    </>
  )
}
