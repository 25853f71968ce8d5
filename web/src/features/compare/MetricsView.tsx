// The items' own metrics side by side, each with its interval and its number of days.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ComparedItem } from '@/server/types'
import type { CsvValue, TableData } from '@/shared/csv'
import { ABSENT, type Format, signClass, useFormat } from '@/shared/format'
import { shortId } from '@/shared/ids'
import { type Translate, useText } from '@/shared/i18n'
import { HouseTag, Tag } from '@/shared/ui/parts'
import { TableFrame } from '@/shared/ui/table'
import css from './compare.module.css'
import { ItemMarks } from './ItemMarks'
import { codeText, itemLabel } from './words'

interface Row {
  name: string
  title?: string
  cell: (item: ComparedItem) => ReactNode
  /** Whether the row says anything about the item; rows that say nothing about any are omitted. */
  has?: (item: ComparedItem) => boolean
}

export function MetricsView({ items }: { items: ComparedItem[] }) {
  const t = useText()
  const format = useFormat()
  const rows = rowsOf(t, format).filter((row) => !row.has || items.some(row.has))
  return (
    <section className="panel" aria-label={t('compare.metrics')}>
      <div className="panel-head">
        <h2>{t('compare.metrics')}</h2>
        <span className="second">{t('compare.metrics.what')}</span>
      </div>
      <TableFrame label={t('compare.metrics')} name="comparison-metrics" csv={() => fileOf(items)}>
        <table className={`grid-table ${css.sides}`}>
          <thead>
            <tr>
              <th>
                <span className="hidden-label">{t('compare.metric')}</span>
              </th>
              {items.map((item) => (
                <th key={item.id} className="num" scope="col">
                  <ItemHead item={item} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row" title={row.title}>
                  {row.name}
                </th>
                {items.map((item) => (
                  <td key={item.id} className="num">
                    {row.cell(item)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </section>
  )
}

/** A row for each item. Returns and shares are fractions. */
function fileOf(items: ComparedItem[]): TableData {
  const columns: [string, (item: ComparedItem) => CsvValue][] = [
    ['item', (item) => item.id],
    ['label', (item) => item.label],
    ['kind', (item) => item.kind],
    ['is_llm', (item) => item.is_llm],
    ['job_ids', (item) => item.job_ids.join(' ')],
    ['start_date', (item) => item.start_date],
    ['end_date', (item) => item.end_date],
    ['days', (item) => item.days],
    ['planned_days', (item) => item.planned_days],
    ['trials', (item) => item.trials],
    ['windows', (item) => item.windows],
    ['full_research_days', (item) => item.full_research_days],
    ['fallback_days', (item) => item.fallback_days],
    ['insolvent_on', (item) => item.insolvent_on],
    ['total_return', (item) => item.total_return],
    ['mean_daily_log_return', (item) => item.mean?.mean_daily],
    ['mean_daily_log_return_low', (item) => item.mean?.interval?.low],
    ['mean_daily_log_return_high', (item) => item.mean?.interval?.high],
    ['daily_deviation', (item) => item.mean?.daily_deviation],
    ['annualized_sharpe', (item) => item.sharpe?.annualized],
    ['annualized_sharpe_low', (item) => item.sharpe?.interval.low],
    ['annualized_sharpe_high', (item) => item.sharpe?.interval.high],
    ['max_drawdown', (item) => item.max_drawdown],
    ['reordered_drawdown_low', (item) => item.reorder_band?.low],
    ['reordered_drawdown_high', (item) => item.reorder_band?.high],
    ['fallback_log_return', (item) => item.fallback_log_return],
    ['model_cost_usd', (item) => item.model_cost_usd],
    ['net_total_return', (item) => item.net_total_return],
    ['best_rank', (item) => item.rank?.best],
    ['worst_rank', (item) => item.rank?.worst],
    ['probabilistic_sharpe', (item) => item.secondary?.probabilistic_sharpe],
    ['deflated_sharpe', (item) => item.secondary?.deflated_sharpe],
    ['min_track_record_days', (item) => item.secondary?.min_track_record_days],
  ]
  return { columns: columns.map(([name]) => name), rows: items.map((item) => columns.map(([, value]) => value(item))) }
}

/** An item's name, its runs, and whether it is a rule. `run` is the name of its run, if known. */
export function ItemHead({ item, run }: { item: ComparedItem; run?: string | null | undefined }) {
  const t = useText()
  const [job] = item.job_ids
  return (
    <span className={css.head}>
      <b>{itemLabel(item, t)}</b>
      <span className="row wrap end">
        <HouseTag isLlm={item.kind === 'agent' ? item.is_llm : undefined} />
        {item.kind !== 'agent' && <Tag>{codeText('compare.kind', item.kind, t)}</Tag>}
        {item.insolvent_on && <Tag kind="bad">{t('compare.insolvent')}</Tag>}
        {item.interim && (
          <Tag kind="warn" title={item.interim}>
            {t('compare.interim')}
          </Tag>
        )}
        {item.experiment_id ? (
          <Link to="/app/experiments/$experimentId" params={{ experimentId: item.experiment_id }} className="mono quiet">
            {shortId(item.experiment_id)}
          </Link>
        ) : (
          item.kind === 'agent' &&
          job && (
            <Link to="/app/runs/$jobId" params={{ jobId: job }} className={run ? 'quiet' : 'mono quiet'}>
              {run ?? shortId(job)}
            </Link>
          )
        )}
      </span>
    </span>
  )
}

function rowsOf(t: Translate, format: Format): Row[] {
  const isAgent = (item: ComparedItem) => item.kind === 'agent'
  return [
    { name: t('setup.span'), cell: (item) => format.span(item.start_date, item.end_date) },
    {
      name: t('compare.days'),
      cell: (item) => (
        <>
          {isAgent(item) ? t('compare.days.of', { days: item.days, planned: item.planned_days }) : format.count(item.days)}
          {item.interim && (
            <div className={`quiet ${css.note}`} lang="en">
              {item.interim}
            </div>
          )}
        </>
      ),
    },
    { name: t('compare.marks'), has: isAgent, cell: (item) => (isAgent(item) ? <ItemMarks item={item} /> : ABSENT) },
    { name: t('compare.trials'), has: (item) => item.trials > 1 || item.windows > 1, cell: (item) => t('compare.trials.of', { trials: item.trials, windows: item.windows }) },
    { name: t('compare.insolvent'), has: (item) => item.insolvent_on != null, cell: (item) => format.day(item.insolvent_on) },
    { name: t('metric.return'), title: t('compare.return.what'), cell: (item) => <span className={signClass(item.total_return)}>{format.change(item.total_return)}</span> },
    {
      name: t('compare.mean'),
      title: t('compare.mean.what'),
      cell: ({ mean }) =>
        mean == null ? (
          ABSENT
        ) : (
          <Estimate
            value={format.change(mean.mean_daily, 3)}
            interval={mean.interval ? `[${format.change(mean.interval.low, 3)}, ${format.change(mean.interval.high, 3)}]` : mean.days < 20 ? t('compare.no.interval') : ''}
            days={mean.days}
          />
        ),
    },
    { name: t('compare.deviation'), title: t('compare.deviation.what'), cell: (item) => format.percent(item.mean?.daily_deviation) },
    {
      name: t('metric.sharpe'),
      title: t('compare.sharpe.what'),
      cell: ({ sharpe, sharpe_unavailable: missing }) =>
        sharpe ? (
          <Estimate value={format.ratio(sharpe.annualized)} interval={`[${format.ratio(sharpe.interval.low)}, ${format.ratio(sharpe.interval.high)}]`} days={sharpe.days} />
        ) : (
          <span className="quiet">{missing ? codeText('compare.no.sharpe', missing, t) : ABSENT}</span>
        ),
    },
    {
      name: t('metric.drawdown'),
      title: t('compare.drawdown.what'),
      cell: ({ max_drawdown: drawdown, reorder_band: band }) => (
        <>
          {format.percent(drawdown)}
          {band && (
            <div className="quiet">
              {t('compare.reorder', { low: format.percent(band.low, 1), high: format.percent(band.high, 1) })}
            </div>
          )}
        </>
      ),
    },
    { name: t('quality.full'), has: isAgent, cell: (item) => (isAgent(item) ? t('compare.days.full', { full: item.full_research_days, other: item.fallback_days }) : ABSENT) },
    {
      name: t('compare.fallback'),
      title: t('compare.fallback.what'),
      has: (item) => item.fallback_days > 0,
      cell: (item) => (item.fallback_days > 0 ? <span className={signClass(item.fallback_log_return)}>{format.change(item.fallback_log_return)}</span> : ABSENT),
    },
    { name: t('runs.cost'), has: isAgent, cell: (item) => (!isAgent(item) ? ABSENT : item.model_cost_usd == null ? t('cost.unknown') : format.cost(item.model_cost_usd)) },
    { name: t('compare.net'), title: t('compare.net.what'), has: (item) => item.net_total_return != null, cell: (item) => <span className={signClass(item.net_total_return)}>{format.change(item.net_total_return)}</span> },
    {
      name: t('compare.rank'),
      title: t('compare.rank.what'),
      has: (item) => item.rank != null,
      cell: ({ rank }) => (rank ? (rank.best === rank.worst ? format.count(rank.best) : `${format.count(rank.best)}–${format.count(rank.worst)}`) : ABSENT),
    },
    { name: 'PSR', title: t('compare.psr.what'), has: (item) => item.secondary != null, cell: (item) => format.percent(item.secondary?.probabilistic_sharpe, 1) },
    {
      name: 'DSR',
      title: t('compare.dsr.what'),
      has: (item) => item.secondary?.deflated_sharpe != null,
      cell: ({ secondary }) =>
        secondary?.deflated_sharpe == null ? (
          ABSENT
        ) : (
          <>
            {format.percent(secondary.deflated_sharpe, 1)}
            <div className="quiet">{t('compare.dsr.tried', { count: secondary.configurations })}</div>
          </>
        ),
    },
    { name: 'MinTRL', title: t('compare.mintrl.what'), has: (item) => item.secondary?.min_track_record_days != null, cell: (item) => (item.secondary?.min_track_record_days == null ? ABSENT : t('compare.days.count', { days: Math.ceil(item.secondary.min_track_record_days) })) },
  ]
}

function Estimate({ value, interval, days }: { value: string; interval: string; days: number }) {
  return (
    <>
      {value}
      <div className="quiet">
        {interval} n={days}
      </div>
    </>
  )
}
