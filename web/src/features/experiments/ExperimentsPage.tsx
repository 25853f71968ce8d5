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
import { More, StatusMark, Tag } from '@/shared/ui/parts'
import { useCost } from '@/shared/ui/quality'
import { ScrollX } from '@/shared/ui/scroll'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { ProgressBar } from './ProgressBar'

export function ExperimentsPage() {
  const t = useText()
  const query = useInfiniteQuery(experimentsQuery())
  const found = query.data?.pages.flatMap((page) => page.experiments) ?? []
  useTitle(t('nav.experiments'))
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
          <ScrollX label={t('nav.experiments')}>
            <table className="grid-table">
              <thead>
                <tr>
                  <th>{t('experiment.title')}</th>
                  <th>{t('experiment.agents')}</th>
                  <th>{t('experiment.span')}</th>
                  <th className="num">{t('compare.trials')}</th>
                  <th>{t('experiment.progress')}</th>
                  <th className="num">{t('runs.cost')}</th>
                  <th>{t('setup.created')}</th>
                </tr>
              </thead>
              <tbody>
                {found.map((one) => (
                  <Row key={one.experiment_id} one={one} />
                ))}
              </tbody>
            </table>
          </ScrollX>
          <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
        </div>
      )}
    </div>
  )
}

function Row({ one }: { one: ExperimentSummary }) {
  const t = useText()
  const format = useFormat()
  const now = useNow()
  const cost = useCost()
  return (
    <tr>
      <td className="nowrap">
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
      </td>
      <td>{one.agents.join(', ')}</td>
      <td className="tnum nowrap">{format.span(one.start_date, one.planned_last_day)}</td>
      <td className="num">{t('experiment.plan', { trials: one.trials, windows: one.windows })}</td>
      <td>
        <ProgressBar progress={one.progress} /> <span className="second tnum nowrap">{t('experiment.jobs.of', { done: one.completed_jobs, planned: one.planned_jobs })}</span>
      </td>
      <td className="num">{cost(one.usage)}</td>
      <td className="second nowrap">
        <time dateTime={one.created_at} title={format.instant(one.created_at)}>
          {format.ago(one.created_at, now)}
        </time>
      </td>
    </tr>
  )
}
