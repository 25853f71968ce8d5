// Deletes a job after confirmation, with or without its dependent jobs.
import { useState } from 'react'
import { ApiError } from '@/server/client'
import { useDeleteJob } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Confirm } from '@/shared/ui/dialog'

export function DeleteJob({ jobId, onDeleted }: { jobId: string; onDeleted: () => void }) {
  const t = useText()
  const remove = useDeleteJob(jobId)
  const [confirming, setConfirming] = useState<'job' | 'all' | null>(null)
  // If the deletion with dependents fails, one of them has not stopped: retrying would not help.
  const inUse = remove.error instanceof ApiError && remove.error.status === 409 && remove.variables === false
  return (
    <>
      <button type="button" className="button danger" disabled={remove.isPending} onClick={() => setConfirming('job')}>
        {remove.isPending ? t('run.deleting') : t('run.delete')}
      </button>
      {remove.error && (
        <span className="down" role="alert">
          {remove.error.message}{' '}
          {inUse && (
            <button type="button" className="button small danger" onClick={() => setConfirming('all')}>
              {t('run.delete.all')}
            </button>
          )}
        </span>
      )}
      {confirming && (
        <Confirm
          title={t('run.delete.sure', { job: jobId })}
          description={t(confirming === 'all' ? 'run.delete.all.what' : 'run.delete.what')}
          action={t(confirming === 'all' ? 'run.delete.all' : 'run.delete')}
          onConfirm={() => remove.mutate(confirming === 'all', { onSuccess: onDeleted })}
          onClose={() => setConfirming(null)}
        />
      )}
    </>
  )
}
