import { Link } from '@tanstack/react-router'
import type { Experiment, ExperimentJob } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { shortId } from '@/shared/ids'
import { StatusMark } from '@/shared/ui/parts'
import { useCost } from '@/shared/ui/quality'
import { type Column, SortTable } from '@/shared/ui/table'
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
  const windowOf = (job: ExperimentJob) => windows[job.window - 1]
  const done = ({ progress }: ExperimentJob) => progress.completed + progress.skipped
  const columns: Column<ExperimentJob>[] = [
    {
      id: 'status',
      label: t('given.to.run'),
      stays: true,
      sort: (job) => job.status,
      csv: { job_id: (job) => job.job_id, status: (job) => job.status },
      className: () => 'nowrap',
      cell: (job) => (
        <span className="row">
          <StatusMark status={job.status} />
          <Link to="/app/runs/$jobId" params={{ jobId: job.job_id }} className="mono" title={job.job_id}>
            {shortId(job.job_id)}
          </Link>
        </span>
      ),
    },
    {
      id: 'window',
      label: t('experiment.window'),
      sort: (job) => job.window,
      csv: { window: (job) => job.window, start_date: (job) => windowOf(job)?.start_date, end_date: (job) => windowOf(job)?.end_date },
      className: () => 'tnum nowrap',
      cell: (job) => {
        const window = windowOf(job)
        return window ? format.span(window.start_date, window.end_date) : job.window
      },
    },
    { id: 'trial', label: t('experiment.trial'), num: true, sort: (job) => job.trial, cell: (job) => job.trial },
    { id: 'seed', label: t('experiment.seed'), num: true, sort: (job) => Number(job.seed), csv: { seed: (job) => String(job.seed) }, className: () => 'mono', cell: (job) => String(job.seed) },
    {
      id: 'progress',
      label: t('experiment.progress'),
      sort: (job) => done(job) / job.progress.total_model_days,
      csv: { completed_days: (job) => job.progress.completed, skipped_days: (job) => job.progress.skipped, failed_days: (job) => job.progress.failed, model_days: (job) => job.progress.total_model_days },
      cell: (job) => (
        <>
          <ProgressBar progress={job.progress} /> <span className="second tnum nowrap">{t('runs.days.of', { done: done(job), total: job.progress.total_model_days })}</span>
        </>
      ),
    },
    { id: 'cost_usd', label: t('runs.cost'), num: true, sort: (job) => job.usage.cost_usd, cell: (job) => cost(job.usage) },
    { id: 'error', label: t('run.stopped.because'), sort: (job) => job.error, className: () => 'second', cell: (job) => job.error ?? '' },
  ]
  return (
    <section className="panel" aria-label={t('experiment.jobs')}>
      <div className="panel-head">
        <h2>{t('experiment.jobs')}</h2>
      </div>
      <SortTable label={t('experiment.jobs')} name="experiment-jobs" columns={columns} rows={jobs} rowKey={(job) => job.job_id} />
    </section>
  )
}
