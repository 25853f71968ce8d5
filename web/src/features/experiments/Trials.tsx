// Every trial of each agent and window, with the mean and the spread of those that are complete.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { experimentResults } from '@/server/judging'
import { type AgentTrials, type ExperimentSummary, hasStopped, type WindowTrials } from '@/server/types'
import { ABSENT, signClass, useFormat } from '@/shared/format'
import { textOr, useText } from '@/shared/i18n'
import { HouseTag, StatusMark, Tag } from '@/shared/ui/parts'
import { ScrollX } from '@/shared/ui/scroll'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { Dots } from './Dots'
import css from './experiments.module.css'

export function Trials({ experiment }: { experiment: ExperimentSummary }) {
  const t = useText()
  const query = useQuery(experimentResults(experiment.experiment_id, !hasStopped(experiment.status)))
  const agents = query.data?.agents ?? []
  // One scale for all, so that spreads can be seen against each other.
  const returns = agents.flatMap((agent) => agent.windows.flatMap((window) => [window.buy_and_hold, ...window.trials.map((trial) => trial.total_return)])).filter((value) => value != null)
  const range = { low: Math.min(0, ...returns), high: Math.max(0, ...returns) }
  return (
    <section className="panel" aria-label={t('experiment.results')}>
      <div className="panel-head">
        <h2>{t('experiment.results')}</h2>
        <span className="second grow">{t('experiment.results.what')}</span>
      </div>
      {query.isPending ? (
        <Loading rows={6} />
      ) : query.error && !query.data ? (
        <Failed error={query.error} retry={() => void query.refetch()} />
      ) : agents.length === 0 ? (
        <Empty title={t('experiment.results.none')} />
      ) : (
        agents.map((agent) => <Agent key={agent.agent.name} agent={agent} range={range} />)
      )}
    </section>
  )
}

function Agent({ agent: { agent, windows }, range }: { agent: AgentTrials; range: { low: number; high: number } }) {
  const t = useText()
  return (
    <>
      <h3 className={`row wrap ${css.agent}`}>
        {agent.name} <HouseTag isLlm={agent.is_llm} /> <span className="quiet">{textOr(t, `experiment.varies.${agent.varies_by}`, agent.varies_by)}</span>
      </h3>
      {windows.map((window) => (
        <WindowTable key={window.number} agent={agent.name} planned={agent.trials} window={window} range={range} />
      ))}
    </>
  )
}

interface WindowProps {
  agent: string
  planned: number
  window: WindowTrials
  range: { low: number; high: number }
}

function WindowTable({ agent, planned, window, range }: WindowProps) {
  const t = useText()
  const format = useFormat()
  const { spread, trials } = window
  const span = format.span(window.window.start_date, window.window.end_date)
  const title = t('experiment.window.of', { number: window.number, span, days: window.window.days })
  const summary = (name: string, pick: (one: NonNullable<typeof spread.total_return>) => number | null | undefined, signed: boolean): ReactNode => {
    const cell = (one: typeof spread.total_return, show: (value: number | null | undefined) => string) => <td className="num">{one ? show(pick(one)) : ABSENT}</td>
    const percent = signed ? format.change : format.percent
    return (
      <tr className={css.summary}>
        <th scope="row">{name}</th>
        {cell(spread.total_return, percent)}
        {cell(spread.mean_daily_log_return, (value) => percent(value, 3))}
        <td />
        {cell(spread.max_drawdown, format.percent)}
        {cell(spread.sharpe, format.ratio)}
        <td />
        <td />
      </tr>
    )
  }
  return (
    <div className={css.window}>
      <div className={css.windowHead}>
        <span className="second tnum grow">
          {title} · {t('experiment.complete', { count: spread.trials, of: planned })}
          {window.buy_and_hold != null && ` · ${t('experiment.hold')} ${format.change(window.buy_and_hold)}`}
        </span>
        <Dots trials={trials} mean={spread.total_return?.mean ?? null} hold={window.buy_and_hold ?? null} range={range} />
      </div>
      <ScrollX label={`${agent}, ${title}`}>
        <table className="grid-table">
          <thead>
            <tr>
              <th>{t('experiment.trial')}</th>
              <th className="num">{t('metric.return')}</th>
              <th className="num">{t('compare.mean')}</th>
              <th className="num">{t('compare.deviation')}</th>
              <th className="num">{t('metric.drawdown')}</th>
              <th className="num">{t('metric.sharpe')}</th>
              <th className="num">{t('runs.cost')}</th>
              <th>{t('runs.research')}</th>
            </tr>
          </thead>
          <tbody>
            {trials.map((trial) => (
              <tr key={trial.job_id}>
                <td className="nowrap">
                  <span className="row">
                    <Link to="/app/runs/$jobId" params={{ jobId: trial.job_id }}>
                      {trial.trial}
                    </Link>
                    {trial.status !== 'completed' && <StatusMark status={trial.status} />}
                  </span>
                </td>
                <td className={`num ${signClass(trial.total_return)}`}>{format.change(trial.total_return)}</td>
                <td className="num">{format.change(trial.mean_daily_log_return, 3)}</td>
                <td className="num">{format.percent(trial.daily_deviation)}</td>
                <td className="num">{format.percent(trial.max_drawdown)}</td>
                <td className="num">{trial.sharpe == null && trial.days < 60 ? <span className="quiet">{t('compare.no.sharpe.too_few_days')}</span> : format.ratio(trial.sharpe)}</td>
                <td className="num">{trial.cost_usd == null ? t('cost.unknown') : format.cost(trial.cost_usd)}</td>
                <td>
                  <span className="row wrap">
                    {!trial.is_complete && (
                      <Tag kind="warn" title={t('experiment.incomplete')}>
                        {t('compare.days.of', { days: trial.days, planned: window.window.days })}
                      </Tag>
                    )}
                    {trial.insolvent_on && <Tag kind="bad">{t('orders.insolvent', { since: format.day(trial.insolvent_on) })}</Tag>}
                    {trial.failed_days > 0 && <Tag kind="bad">{t('runs.failed', { count: trial.failed_days })}</Tag>}
                    {trial.degraded_days > 0 && <Tag kind="warn">{t('experiment.degraded', { count: trial.degraded_days, days: trial.days })}</Tag>}
                    {trial.days > 0 && trial.degraded_days === 0 && <span className="second nowrap">{t('quality.all')}</span>}
                  </span>
                </td>
              </tr>
            ))}
            {spread.trials > 1 && (
              <>
                {summary(t('experiment.mean'), (one) => one.mean, true)}
                {summary(t('experiment.deviation'), (one) => one.deviation, false)}
              </>
            )}
          </tbody>
        </table>
      </ScrollX>
    </div>
  )
}
