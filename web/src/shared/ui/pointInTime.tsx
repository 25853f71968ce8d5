// The mark of a day whose point-in-time state is unverified, and the session that caused it.
import { Link } from '@tanstack/react-router'
import type { PointInTimeReason } from '@/server/types'
import { useFormat } from '@/shared/format'
import { textOr, useText } from '@/shared/i18n'
import { Tag } from './parts'

interface Marked {
  point_in_time?: string | null
  point_in_time_reason?: PointInTimeReason | null
}

/** The mark, with the reason in the tooltip. */
export function UnverifiedTag({ provenance }: { provenance: Marked | null | undefined }) {
  const t = useText()
  if (provenance?.point_in_time !== 'unverified') return null
  const reason = provenance.point_in_time_reason
  return (
    <Tag kind="warn" title={reason ? textOr(t, `unverified.${reason.kind}`, reason.kind) : undefined}>
      {t('quality.unverified')}
    </Tag>
  )
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
