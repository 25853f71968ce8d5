// Every trial of each agent and window, with the mean and the spread of those that are complete.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { experimentResults } from '@/server/judging'
import { type AgentTrials, type ExperimentSummary, hasStopped, type WindowTrials } from '@/server/types'
import { fileName } from '@/shared/fileName'
import { ABSENT, signClass, useFormat } from '@/shared/format'
import { textOr, useText } from '@/shared/i18n'
import { CutoffTags, MaskedTag } from '@/shared/ui/evidenceMarks'
import { costMarks, fewDaysMarks, insolventMarks } from '@/shared/ui/marks'
import { MarkTags } from '@/shared/ui/markTags'
import { HouseTag, StatusMark, Tag } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
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

function Agent({ agent: { agent, windows, training_cutoffs }, range }: { agent: AgentTrials; range: { low: number; high: number } }) {
  const t = useText()
  return (
    <>
      <h3 className={`row wrap ${css.agent}`}>
        {agent.name} <HouseTag isLlm={agent.is_llm} /> <CutoffTags result={{ training_cutoffs }} /> <span className="quiet">{textOr(t, `experiment.varies.${agent.varies_by}`, agent.varies_by)}</span>
      </h3>
      {windows.map((window) => (
        <WindowTable key={`${window.number} ${window.mask ?? ''}`} agent={agent.name} planned={agent.trials} window={window} range={range} />
      ))}
    </>
  )
}

type Trial = WindowTrials['trials'][number]

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
  const columns: Column<Trial>[] = [
    {
      id: 'trial',
      label: t('experiment.trial'),
      stays: true,
      sort: (trial) => trial.trial,
      csv: { agent: () => agent, window: () => window.number, mask: () => window.mask, trial: (trial) => trial.trial, job_id: (trial) => trial.job_id, status: (trial) => trial.status },
      className: () => 'nowrap',
      cell: (trial) => (
        <span className="row">
          <Link to="/app/runs/$jobId" params={{ jobId: trial.job_id }}>
            {trial.trial}
          </Link>
          {trial.status !== 'completed' && <StatusMark status={trial.status} />}
        </span>
      ),
    },
    { id: 'total_return', label: t('metric.return'), num: true, sort: (trial) => trial.total_return, className: (trial) => signClass(trial.total_return), cell: (trial) => format.change(trial.total_return) },
    { id: 'mean_daily_log_return', label: t('compare.mean'), num: true, sort: (trial) => trial.mean_daily_log_return, cell: (trial) => format.change(trial.mean_daily_log_return, 3) },
    { id: 'daily_deviation', label: t('compare.deviation'), num: true, sort: (trial) => trial.daily_deviation, cell: (trial) => format.percent(trial.daily_deviation) },
    { id: 'max_drawdown', label: t('metric.drawdown'), num: true, sort: (trial) => trial.max_drawdown, cell: (trial) => format.percent(trial.max_drawdown) },
    {
      id: 'sharpe',
      label: t('metric.sharpe'),
      num: true,
      sort: (trial) => trial.sharpe,
      cell: (trial) => (trial.sharpe == null && trial.days < 60 ? <span className="quiet">{t('compare.no.sharpe.too_few_days')}</span> : format.ratio(trial.sharpe)),
    },
    { id: 'cost_usd', label: t('runs.cost'), num: true, sort: (trial) => trial.cost_usd, cell: (trial) => (trial.cost_usd == null ? t('cost.unknown') : format.cost(trial.cost_usd)) },
    {
      id: 'research',
      label: t('runs.research'),
      stays: 'end',
      sort: (trial) => (trial.days > 0 ? 1 - (trial.degraded_days + trial.failed_days) / trial.days : null),
      csv: { days: (trial) => trial.days, planned_days: () => window.window.days, degraded_days: (trial) => trial.degraded_days, failed_days: (trial) => trial.failed_days, is_complete: (trial) => trial.is_complete, insolvent_on: (trial) => trial.insolvent_on },
      cell: (trial) => <Quality trial={trial} planned={window.window.days} />,
    },
  ]
  return (
    <div className={css.window}>
      <div className={css.windowHead}>
        <span className="second tnum grow">
          {title} · {t('experiment.complete', { count: spread.trials, of: planned })}
          {window.buy_and_hold != null && ` · ${t('experiment.hold')} ${format.change(window.buy_and_hold)}`} <MaskedTag masked={window.mask == null ? null : { mask: window.mask }} />
        </span>
        <Dots title={`${agent}, ${title}`} name={fileName('trial-returns', agent, String(window.number), window.mask)} trials={trials} mean={spread.total_return?.mean ?? null} hold={window.buy_and_hold ?? null} range={range} />
      </div>
      <SortTable
        label={`${agent}, ${title}`}
        name={fileName('trials', agent, String(window.number), window.mask)}
        columns={columns}
        rows={trials}
        rowKey={(trial) => trial.job_id}
        foot={
          spread.trials > 1 && (
            <>
              {summary(t('experiment.mean'), (one) => one.mean, true)}
              {summary(t('experiment.deviation'), (one) => one.deviation, false)}
            </>
          )
        }
      />
    </div>
  )
}

function Quality({ trial, planned }: { trial: Trial; planned: number }) {
  const t = useText()
  const format = useFormat()
  return (
    <span className="row wrap">
      {!trial.is_complete && (
        <Tag kind="warn" title={t('experiment.incomplete')}>
          {t('compare.days.of', { days: trial.days, planned })}
        </Tag>
      )}
      <MarkTags marks={insolventMarks(trial.insolvent_on, t, format)} />
      {trial.failed_days > 0 && <Tag kind="bad">{t('runs.failed', { count: trial.failed_days })}</Tag>}
      {trial.degraded_days > 0 && <Tag kind="warn">{t('experiment.degraded', { count: trial.degraded_days, days: trial.days })}</Tag>}
      {trial.days > 0 && trial.degraded_days === 0 && <span className="second nowrap">{t('quality.all')}</span>}
      {trial.days > 0 && <MarkTags marks={[...fewDaysMarks(trial.days, t), ...costMarks(trial.cost_usd == null, t)]} />}
    </span>
  )
}
