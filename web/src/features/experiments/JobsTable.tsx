import { Link } from '@tanstack/react-router'
import type { Experiment, ExperimentJob } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { shortId } from '@/shared/ids'
import { StatusMark } from '@/shared/ui/parts'
import { useCost } from '@/shared/ui/quality'
import { ScrollX } from '@/shared/ui/scroll'
import { ProgressBar } from './ProgressBar'

interface Props {
  jobs: ExperimentJob[]
  windows: Experiment['manifest']['windows']
}

/** The jobs of an experiment, by window and trial. */
export function JobsTable({ jobs, windows }: Props) {
  const t = useText()
  const format = useFormat()
  const cost = useCost()
  return (
    <section className="panel" aria-label={t('experiment.jobs')}>
      <div className="panel-head">
        <h2>{t('experiment.jobs')}</h2>
      </div>
      <ScrollX label={t('experiment.jobs')}>
        <table className="grid-table">
          <thead>
            <tr>
              <th>{t('given.to.run')}</th>
              <th>{t('experiment.window')}</th>
              <th className="num">{t('experiment.trial')}</th>
              <th className="num">{t('experiment.seed')}</th>
              <th>{t('experiment.progress')}</th>
              <th className="num">{t('runs.cost')}</th>
              <th>{t('run.stopped.because')}</th>
            </tr>
          </thead>
          <tbody>
            {jobs.map((job) => {
              const window = windows[job.window - 1]
              return (
                <tr key={job.job_id}>
                  <td className="nowrap">
                    <span className="row">
                      <StatusMark status={job.status} />
                      <Link to="/app/runs/$jobId" params={{ jobId: job.job_id }} className="mono" title={job.job_id}>
                        {shortId(job.job_id)}
                      </Link>
                    </span>
                  </td>
                  <td className="tnum nowrap">{window ? format.span(window.start_date, window.end_date) : job.window}</td>
                  <td className="num">{job.trial}</td>
                  <td className="num mono">{String(job.seed)}</td>
                  <td>
                    <ProgressBar progress={job.progress} /> <span className="second tnum nowrap">{t('runs.days.of', { done: job.progress.completed + job.progress.skipped, total: job.progress.total_model_days })}</span>
                  </td>
                  <td className="num">{cost(job.usage)}</td>
                  <td className="second">{job.error ?? ''}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </ScrollX>
    </section>
  )
}
