// All experiments, newest first.
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { experiments as experimentsQuery } from '@/server/judging'
import type { ExperimentSummary } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { shortId } from '@/shared/ids'
import { useNow } from '@/shared/now'
import { useTitle } from '@/shared/title'
import { StatusMark, Tag } from '@/shared/ui/parts'
import { useCost } from '@/shared/ui/quality'
import { restOf } from '@/shared/ui/rest'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import { ProgressBar } from './ProgressBar'

export function ExperimentsPage() {
  const t = useText()
  const query = useInfiniteQuery(experimentsQuery())
  const found = query.data?.pages.flatMap((page) => page.experiments) ?? []
  const format = useFormat()
  const now = useNow()
  const cost = useCost()
  useTitle(t('nav.experiments'))
  const columns: Column<ExperimentSummary>[] = [
    {
      id: 'status',
      label: t('experiment.title'),
      stays: true,
      sort: (one) => one.status,
      csv: { experiment_id: (one) => one.experiment_id, status: (one) => one.status, interim: (one) => one.interim },
      className: () => 'nowrap',
      cell: (one) => (
        <span className="row">
          <StatusMark status={one.status} />
          <Link to="/app/experiments/$experimentId" params={{ experimentId: one.experiment_id }} className="mono" title={one.experiment_id}>
            {shortId(one.experiment_id)}
          </Link>
          {one.interim && (
            <Tag kind="warn" title={one.interim}>
              {t('experiment.interim')}
            </Tag>
          )}
        </span>
      ),
    },
    { id: 'agents', label: t('experiment.agents'), sort: (one) => one.agents.join(', '), cell: (one) => one.agents.join(', ') },
    {
      id: 'span',
      label: t('experiment.span'),
      sort: (one) => one.start_date,
      csv: { start_date: (one) => one.start_date, planned_last_day: (one) => one.planned_last_day },
      className: () => 'tnum nowrap',
      cell: (one) => format.span(one.start_date, one.planned_last_day),
    },
    { id: 'trials', label: t('compare.trials'), num: true, sort: (one) => one.trials, csv: { trials: (one) => one.trials, windows: (one) => one.windows }, cell: (one) => t('experiment.plan', { trials: one.trials, windows: one.windows }) },
    {
      id: 'progress',
      label: t('experiment.progress'),
      sort: (one) => one.completed_jobs / one.planned_jobs,
      csv: { completed_jobs: (one) => one.completed_jobs, planned_jobs: (one) => one.planned_jobs },
      cell: (one) => (
        <>
          <ProgressBar progress={one.progress} /> <span className="second tnum nowrap">{t('experiment.jobs.of', { done: one.completed_jobs, planned: one.planned_jobs })}</span>
        </>
      ),
    },
    { id: 'cost_usd', label: t('runs.cost'), num: true, sort: (one) => one.usage.cost_usd, cell: (one) => cost(one.usage) },
    {
      id: 'created_at',
      label: t('setup.created'),
      sort: (one) => one.created_at,
      className: () => 'second nowrap',
      cell: (one) => (
        <time dateTime={one.created_at} title={format.instant(one.created_at)}>
          {format.ago(one.created_at, now)}
        </time>
      ),
    },
  ]
  return (
    <div className="page">
      <div className="page-head">
        <div className="grow">
          <h1>{t('nav.experiments')}</h1>
          <p className="second">{t('experiments.what')}</p>
        </div>
      </div>
      {query.isPending && <Loading rows={6} />}
      {query.error && !query.data && <Failed error={query.error} retry={() => void query.refetch()} />}
      {query.data && found.length === 0 && (
        <div className="panel">
          <Empty title={t('experiments.none')} command="papertape run --start 2012-01-03 --end 2012-12-31 --symbols AAPL,IBM --model house::momentum --model house::contrarian --windows 2x60d">
            <p className="second">{t('experiments.none.why')}</p>
          </Empty>
        </div>
      )}
      {found.length > 0 && (
        <div className="panel">
          <SortTable label={t('nav.experiments')} name="experiments" columns={columns} rows={found} rowKey={(one) => one.experiment_id} rest={restOf(query, (page) => page.experiments)} />
        </div>
      )}
    </div>
  )
}
