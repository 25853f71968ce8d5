// The mark of a day whose point-in-time state is unverified, and the session that caused it.
import { Link } from '@tanstack/react-router'
import type { PointInTimeReason } from '@/server/types'
import { useFormat } from '@/shared/format'
import { textOr, useText } from '@/shared/i18n'
import { type PointInTime, unverifiedMarks } from './marks'
import { MarkTags } from './markTags'

/** The mark, with the reason in the tooltip. */
export function UnverifiedTag({ provenance }: { provenance: PointInTime | null | undefined }) {
  return <MarkTags marks={unverifiedMarks(provenance, useText())} />
}

/** The reason, with a link to the job of the session that caused it. */
export function UnverifiedReason({ reason }: { reason: PointInTimeReason }) {
  const t = useText()
  const format = useFormat()
  return (
    <span title={`point_in_time_reason: ${reason.kind}`}>
      {textOr(t, `unverified.${reason.kind}`, reason.kind)} ·{' '}
      <Link to="/app/runs/$jobId" params={{ jobId: reason.job }}>
        {t('unverified.origin', { date: format.day(reason.date) })}
      </Link>
    </span>
  )
}
