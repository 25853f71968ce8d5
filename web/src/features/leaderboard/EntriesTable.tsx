// The entries of a board, with intervals and marks.
import type { LeaderboardEntry } from '@/server/types'
import { fileName } from '@/shared/fileName'
import { signClass, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { IntervalPlot } from '@/shared/ui/IntervalPlot'
import { type Column, SortTable } from '@/shared/ui/table'
import { Degraded, Name, Rank, Sharpe } from './cells'
import { ENTRY_FILE, QUALITY_FILE } from './file'
import css from './leaderboard.module.css'
import { type ExperimentPlans, itemOf, rankOf, scaleOf } from './rows'
import { useLeaderboardText } from './texts'

interface Props {
  board: string
  entries: LeaderboardEntry[]
  plans: ExperimentPlans
  model: string | undefined
}

export function EntriesTable({ board, entries, plans, model }: Props) {
  const t = useText()
  const words = useLeaderboardText()
  const format = useFormat()
  const scale = scaleOf(entries)
  const columns: Column<LeaderboardEntry>[] = [
    {
      id: 'rank',
      label: words('rank'),
      title: words('rank.what'),
      sort: rankOf,
      csv: { best_rank: (entry) => entry.rank?.best, worst_rank: (entry) => entry.rank?.worst, unranked: (entry) => entry.unranked },
      cell: (entry) => <Rank entry={entry} />,
    },
    {
      id: 'entry',
      label: words('entry'),
      sort: (entry) => entry.label,
      stays: true,
      className: () => css.entry ?? '',
      csv: ENTRY_FILE,
      cell: (entry) => <Name entry={entry} item={itemOf(entry, plans)} />,
    },
    {
      id: 'trials',
      label: words('trials'),
      num: true,
      sort: (entry) => entry.trials,
      csv: { trials: (entry) => entry.trials, omitted_runs: (entry) => entry.omitted_runs },
      cell: (entry) => (
        <>
          {format.count(entry.trials)}
          {entry.omitted_runs > 0 && (
            <span className="quiet" title={words('extra.runs.what', { count: entry.omitted_runs })}>
              {' '}
              {words('extra.runs', { count: entry.omitted_runs })}
            </span>
          )}
        </>
      ),
    },
    {
      id: 'return',
      label: words('return'),
      title: words('return.what'),
      num: true,
      sort: (entry) => entry.total_return,
      csv: { total_return: (entry) => entry.total_return, total_return_low: (entry) => entry.interval?.low, total_return_high: (entry) => entry.interval?.high },
      cell: (entry) => (
        <>
          <span className={signClass(entry.total_return)}>{format.change(entry.total_return)}</span>
          {entry.interval && (
            <div className="quiet nowrap">
              [{format.change(entry.interval.low, 1)}, {format.change(entry.interval.high, 1)}]
            </div>
          )}
        </>
      ),
    },
    {
      id: 'interval',
      label: words('interval'),
      className: () => css.plot ?? '',
      cell: (entry) => entry.total_return != null && <IntervalPlot value={entry.total_return} interval={entry.interval ?? null} scale={scale} />,
    },
    { id: 'annualized', label: words('annualized'), num: true, sort: (entry) => entry.annualized_return, csv: { annualized_return: (entry) => entry.annualized_return }, cell: (entry) => format.change(entry.annualized_return) },
    {
      id: 'sharpe',
      label: words('sharpe'),
      num: true,
      sort: (entry) => entry.sharpe?.annualized,
      csv: {
        sharpe: (entry) => entry.sharpe?.annualized,
        sharpe_low: (entry) => entry.sharpe?.interval.low,
        sharpe_high: (entry) => entry.sharpe?.interval.high,
        sharpe_unavailable: (entry) => entry.sharpe_unavailable,
      },
      cell: (entry) => <Sharpe entry={entry} />,
    },
    { id: 'drawdown', label: words('drawdown'), title: words('drawdown.what'), num: true, sort: (entry) => entry.max_drawdown, csv: { max_drawdown: (entry) => entry.max_drawdown }, cell: (entry) => format.percent(entry.max_drawdown) },
    {
      id: 'cost',
      label: words('cost'),
      title: words('cost.what'),
      num: true,
      sort: (entry) => entry.model_cost_usd,
      csv: { model_cost_usd: (entry) => entry.model_cost_usd, net_total_return: (entry) => entry.net_total_return },
      cell: (entry) => (entry.model_cost_usd == null ? words('cost.unknown') : format.cost(entry.model_cost_usd)),
    },
    {
      // Always visible, so that no number is read without it.
      id: 'degraded',
      label: words('degraded'),
      num: true,
      stays: 'end',
      sort: (entry) => entry.quality?.degraded_share,
      csv: QUALITY_FILE,
      cell: (entry) => <Degraded entry={entry} />,
    },
    { id: 'days', label: words('days'), num: true, sort: (entry) => entry.days, csv: { days: (entry) => entry.days, planned_days: (entry) => entry.planned_days }, cell: (entry) => format.count(entry.days) },
  ]
  const isFound = ({ agent, models }: LeaderboardEntry) => model !== undefined && (agent === model || models.includes(model))
  return (
    <SortTable
      label={t('nav.leaderboard')}
      name={fileName('leaderboard', board)}
      columns={columns}
      rows={entries}
      rowKey={(entry) => entry.configuration ?? entry.label}
      rowClass={(entry) => (isFound(entry) ? (css.found ?? '') : '')}
    />
  )
}
