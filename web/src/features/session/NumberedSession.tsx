import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useParams } from '@tanstack/react-router'
import { sessionHead } from '@/server/sessions'
import { useText } from '@/shared/i18n'
import { Empty, Failed, Loading } from '@/shared/ui/states'

/** Redirects from a session number to the session's full address. */
export function NumberedSession() {
  const t = useText()
  const { sessionId } = useParams({ from: '/app/sessions/$sessionId' })
  const query = useQuery(sessionHead(Number(sessionId)))
  if (query.data) {
    const { job_id: jobId, date, model } = query.data
    return <Navigate to="/app/runs/$jobId/$date/$model" params={{ jobId, date, model }} search={(now) => now} replace />
  }
  return (
    <div className="page">
      {query.isPending && <Loading rows={12} />}
      {query.error && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.data === null && (
        <Empty title={t('session.missing')} isPage>
          <Link to="/app/runs">{t('run.missing.all')}</Link>
        </Empty>
      )}
    </div>
  )
}
