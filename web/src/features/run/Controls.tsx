// Stop, resume, branch, delete.
import type { Job } from '@/server/types'
import { hasStopped } from '@/server/types'
import { useJobControl } from '@/server/writes'
import { useCanOperate } from '@/shared/access'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'
import { DeleteJob } from './DeleteJob'

interface Props {
  job: Job
  /** Whether a stop was requested. */
  stopping: boolean
  onBranch: () => void
  onDeleted: () => void
}

export function Controls({ job, stopping: cancelRequested, onBranch, onDeleted }: Props) {
  const t = useText()
  const canOperate = useCanOperate()
  const { cancel, resume } = useJobControl(job.job_id)
  const active = !hasStopped(job.status)
  const stopping = cancel.isPending || cancelRequested
  const error = cancel.error ?? resume.error
  return (
    <div className="stack">
      <div className="row wrap">
        {canOperate && active && (
          <button type="button" className="button" disabled={stopping} onClick={() => cancel.mutate()}>
            <Icon name="stop" />
            {stopping ? t('run.stopping') : t('run.stop')}
          </button>
        )}
        {canOperate && job.can_resume && (
          <button
            type="button"
            className="button primary"
            disabled={resume.isPending}
            onClick={() => {
              cancel.reset()
              resume.mutate()
            }}
          >
            <Icon name="play" />
            {resume.isPending ? t('run.resuming') : t('run.resume')}
          </button>
        )}
        {canOperate && job.simulation && (
          <button type="button" className="button" title={t('branch.what')} onClick={onBranch}>
            <Icon name="branch" />
            {t('branch.open')}
          </button>
        )}
        <a className="button" href={`/results?job_id=${encodeURIComponent(job.job_id)}`} target="_blank" rel="noreferrer">
          JSON
        </a>
        {canOperate && !active && <DeleteJob jobId={job.job_id} onDeleted={onDeleted} />}
      </div>
      {error && (
        <span className="down" role="alert">
          {error.message}
        </span>
      )}
    </div>
  )
}
