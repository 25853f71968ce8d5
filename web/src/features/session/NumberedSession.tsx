import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useParams } from '@tanstack/react-router'
import { sessionHead } from '@/server/queries'
import { useText } from '@/shared/i18n'
import { Empty, Failed, Loading } from '@/shared/ui/states'

/** Leads from a session's number to its own address. */
export function NumberedSession() {
  const t = useText()
  const { sessionId } = useParams({ from: '/app/sessions/$sessionId' })
  const found = useQuery(sessionHead(Number(sessionId)))
  if (found.data) {
    const { job_id: jobId, date, model } = found.data
    return <Navigate to="/app/runs/$jobId/$date/$model" params={{ jobId, date, model }} search={(now) => now} replace />
  }
  return (
    <div className="page">
      {found.isPending && <Loading rows={12} />}
      {found.error && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.data === null && (
        <Empty title={t('session.missing')}>
          <Link to="/app/runs">{t('run.missing.all')}</Link>
        </Empty>
      )}
    </div>
  )
}
