// An agent's months, drawdowns and daily returns, and the rolling Sharpe ratio of all agents.
import { useCallback, useMemo, useRef, useState } from 'react'
import { histogram } from '@/charts/histogram'
import { type Line, LinesChart } from '@/charts/LinesChart'
import { ReturnHistogram } from '@/charts/ReturnHistogram'
import type { Curve } from '@/charts/EquityChart'
import type { components } from '@/server/schema'
import type { RangeResult } from '@/server/types'
import { fileName } from '@/shared/fileName'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Note } from '@/shared/ui/states'
import { type Column, SortTable, TableFrame } from '@/shared/ui/table'
import { Legend } from './Legend'
import { dailyReturns, type Month, strengthOf, yearsOf } from './history'
import css from './run.module.css'

type Drawdown = components['schemas']['DrawdownResponse']

/** Days of the rolling window, and the fewest days of a ratio per year. */
const ROLLING_DAYS = 60

interface Props {
  results: RangeResult[]
  curves: Curve[]
  hidden: ReadonlySet<string>
  onToggle: (id: string) => void
  /** The exchange's time zone, if known. */
  zone: string | null
}

export function History({ results, curves, hidden, onToggle, zone }: Props) {
  const t = useText()
  const format = useFormat()
  const agents = useMemo(() => curves.flatMap((curve) => results.filter((result) => result.model === curve.id)), [curves, results])
  const [chosen, setChosen] = useState<string | null>(null)
  const result = agents.find((one) => one.model === chosen) ?? agents[0]
  const lines = useMemo<Line[]>(
    () =>
      agents.flatMap((one) => {
        const curve = curves.find(({ id }) => id === one.model)
        const points = one.history.rolling_sharpe.flatMap(({ date, sharpe }) => (sharpe == null ? [] : [{ date, value: sharpe }]))
        return curve && points.length > 0 ? [{ id: curve.id, label: curve.label, token: curve.token, dash: curve.dash, points }] : []
      }),
    [agents, curves],
  )
  const visible = useMemo(() => lines.filter((line) => !hidden.has(line.id)), [lines, hidden])
  // Runs at each pointer move, so it bypasses this view.
  const day = useRef<(date: string | null) => void>(() => {})
  const onDay = useCallback((date: string | null) => day.current(date), [])
  const bins = useMemo(() => histogram(result ? dailyReturns(result) : []), [result])
  const ratio = useCallback((value: number | null) => format.ratio(value), [format])
  if (!result) return null
  const { history, period_metrics: metrics } = result
  const pick = agents.length > 1 && (
    <label className="row second">
      {t('run.trades.of')}
      <select className="select short" value={result.model} onChange={(event) => setChosen(event.target.value)}>
        {agents.map((one) => (
          <option key={one.model}>{one.model}</option>
        ))}
      </select>
    </label>
  )
  return (
    <>
      <section className="panel" aria-label={t('history.months')}>
        <div className="panel-head">
          <h2>{t('history.months')}</h2>
          <span className="quiet grow">{zone ? t('history.months.what', { zone: format.zoneName(zone) }) : t('history.months.partial')}</span>
          {pick}
        </div>
        <Months agent={result.model} months={history.months} />
      </section>
      <div className={css.panels2}>
        <section className="panel" aria-label={t('history.sharpe')}>
          <div className="panel-head">
            <h2>{t('history.sharpe')}</h2>
            <span className="quiet">{t('history.sharpe.what', { days: ROLLING_DAYS })}</span>
          </div>
          {lines.length > 0 ? (
            <>
              <Legend curves={lines} hidden={hidden} onToggle={onToggle} day={day} display={ratio} />
              <LinesChart label={t('history.sharpe')} name="rolling-sharpe" value="sharpe" lines={visible} display={ratio} onDay={onDay} />
            </>
          ) : (
            <p className="panel-body second">{t('history.sharpe.none', { days: ROLLING_DAYS })}</p>
          )}
        </section>
        <section className="panel" aria-label={t('history.returns')}>
          <div className="panel-head">
            <h2>{t('history.returns')}</h2>
            <span className="quiet grow">
              {t('history.returns.what', { days: metrics.days, deviation: format.percent(metrics.daily_deviation) })}
            </span>
            {pick}
          </div>
          <div className="panel-body">
            <ReturnHistogram label={t('history.returns')} name={fileName('daily-returns', result.model)} bins={bins} />
          </div>
        </section>
      </div>
      <section className="panel" aria-label={t('history.drawdowns')}>
        <div className="panel-head">
          <h2>{t('history.drawdowns')}</h2>
          <span className="quiet grow">{t('history.drawdowns.what')}</span>
          {pick}
        </div>
        {history.drawdowns.length === 0 ? <p className="panel-body second">{t('history.drawdowns.none')}</p> : <Drawdowns agent={result.model} drawdowns={history.drawdowns} />}
      </section>
      {metrics.annualized_unavailable != null && <Note>{t('history.short', { days: ROLLING_DAYS })}</Note>}
    </>
  )
}

function Months({ agent, months }: { agent: string; months: Month[] }) {
  const t = useText()
  const format = useFormat()
  const years = useMemo(() => yearsOf(months), [months])
  const strength = useMemo(() => strengthOf(months), [months])
  // A single year has columns for its own months only.
  const columns = useMemo(() => Array.from({ length: 12 }, (_, index) => index).filter((index) => years.length > 1 || years[0]?.months[index]), [years])
  const cell = (value: { total_return: number; days: number; is_partial?: boolean | null }, label: string, colored: boolean, key?: number) => {
    const partial = colored && value.is_partial ? t('history.partial', { days: value.days }) : ''
    return (
      <td
        key={key}
        className={`num ${css.heat} ${colored && value.total_return !== 0 ? (value.total_return > 0 ? 'gain' : 'loss') : ''}`}
        style={{ '--v': `${Math.round(strength(value.total_return) * 60)}%` }}
        title={[label, t('history.days', { days: value.days })].join(', ')}
      >
        {format.change(value.total_return, 1)}
        {partial !== '' && <small>{partial}</small>}
      </td>
    )
  }
  const csv = () => ({
    columns: ['agent', 'year', 'month', 'total_return', 'trading_days', 'is_partial'],
    rows: months.map((one) => [agent, one.year, one.month, one.total_return, one.days, one.is_partial]),
  })
  return (
    <TableFrame label={t('history.months')} name={fileName('months', agent)} csv={csv}>
      <table className={`grid-table ${css.heatTable}`} aria-label={t('history.months')}>
        <thead>
          <tr>
            <th scope="col" className="stays">
              {t('history.year')}
            </th>
            {columns.map((index) => (
              <th key={index} scope="col" className="num">
                {format.monthName(index + 1)}
              </th>
            ))}
            <th scope="col" className="num">
              {t('history.total')}
            </th>
          </tr>
        </thead>
        <tbody>
          {years.map((year) => (
            <tr key={year.year}>
              <th scope="row" className="stays tnum">
                {year.year}
              </th>
              {columns.map((index) => {
                const month = year.months[index]
                return month ? cell(month, format.month(`${month.year}-${String(month.month).padStart(2, '0')}`), true, index) : <td key={index} />
              })}
              {cell(year.total, String(year.year), false)}
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  )
}

function Drawdowns({ agent, drawdowns }: { agent: string; drawdowns: Drawdown[] }) {
  const t = useText()
  const format = useFormat()
  const columns = useMemo<Column<Drawdown>[]>(
    () => [
      { id: 'depth', label: t('history.depth'), num: true, sort: (one) => -one.depth, csv: { depth: (one) => one.depth }, cell: (one) => format.percent(one.depth), className: () => 'down' },
      { id: 'peak', label: t('history.peak'), sort: (one) => one.peak ?? '0', csv: { peak_date: (one) => one.peak }, cell: (one) => (one.peak ? format.day(one.peak) : t('chart.start')), className: () => 'tnum nowrap' },
      { id: 'trough', label: t('history.trough'), sort: (one) => one.trough, csv: { trough_date: (one) => one.trough }, cell: (one) => format.day(one.trough), className: () => 'tnum nowrap' },
      { id: 'recovery', label: t('history.recovery'), sort: (one) => one.recovery, csv: { recovery_date: (one) => one.recovery }, cell: (one) => (one.recovery ? format.day(one.recovery) : <span className="tag warn">{t('trades.open')}</span>), className: () => 'tnum nowrap' },
      { id: 'days', label: t('history.length'), title: t('history.length.what'), num: true, sort: (one) => one.days, csv: { trading_days: (one) => one.days }, cell: (one) => format.count(one.days) },
    ],
    [t, format],
  )
  return <SortTable label={t('history.drawdowns')} name={fileName('drawdowns', agent)} columns={columns} rows={drawdowns} rowKey={(one) => `${one.peak} ${one.trough}`} initial={{ id: 'depth', descending: true }} />
}
