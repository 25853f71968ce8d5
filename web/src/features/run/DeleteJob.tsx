// Deletes a job once that is confirmed, alone or with those that were built on it.
import { useState } from 'react'
import { ApiError } from '@/server/client'
import { useDeleteJob } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Confirm } from '@/shared/ui/dialog'

export function DeleteJob({ jobId, onGone }: { jobId: string; onGone: () => void }) {
  const t = useText()
  const remove = useDeleteJob(jobId)
  const [asks, setAsks] = useState<'alone' | 'all' | null>(null)
  // Asked with the others, a refusal says that one of them has not stopped: asking again would not help.
  const inUse = remove.error instanceof ApiError && remove.error.status === 409 && remove.variables === false
  return (
    <>
      <button type="button" className="button danger" disabled={remove.isPending} onClick={() => setAsks('alone')}>
        {remove.isPending ? t('run.deleting') : t('run.delete')}
      </button>
      {remove.error && (
        <span className="down" role="alert">
          {remove.error.message}{' '}
          {inUse && (
            <button type="button" className="button small danger" onClick={() => setAsks('all')}>
              {t('run.delete.all')}
            </button>
          )}
        </span>
      )}
      {asks && (
        <Confirm
          title={t('run.delete.sure', { job: jobId })}
          what={t(asks === 'all' ? 'run.delete.all.what' : 'run.delete.what')}
          action={t(asks === 'all' ? 'run.delete.all' : 'run.delete')}
          onYes={() => remove.mutate(asks === 'all', { onSuccess: onGone })}
          onClose={() => setAsks(null)}
        />
      )}
    </>
  )
}
