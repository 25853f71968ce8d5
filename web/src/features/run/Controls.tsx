// Stop and resume.
import type { Job } from '@/server/types'
import { useJobControl } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Icon } from '@/shared/ui/icons'

const RESUMABLE = new Set(['partial', 'failed', 'cancelled'])

export function Controls({ job }: { job: Job }) {
  const t = useText()
  const { cancel, resume } = useJobControl(job.job_id)
  const runs = job.status === 'running' || job.status === 'queued'
  const error = cancel.error ?? resume.error
  return (
    <div className="stack">
      <div className="row">
        {runs && (
          <button type="button" className="button" disabled={cancel.isPending || cancel.isSuccess} onClick={() => cancel.mutate()}>
            <Icon name="stop" />
            {cancel.isPending || cancel.isSuccess ? t('run.stopping') : t('run.stop')}
          </button>
        )}
        {RESUMABLE.has(job.status) && (
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
        <a className="button" href={`/results?job_id=${encodeURIComponent(job.job_id)}`} target="_blank" rel="noreferrer">
          JSON
        </a>
      </div>
      {error && (
        <span className="down" role="alert">
          {error.message}
        </span>
      )}
    </div>
  )
}
