// The metrics of agents and baselines. The table is also a legend of the chart.
import type { CSSProperties } from 'react'
import type { Curve } from '@/charts/EquityChart'
import type { Metrics, RangeResult, RelativeMetrics } from '@/server/types'
import { signClass, useFormat } from '@/shared/format'
import { type TextKey, useText } from '@/shared/i18n'
import { HouseTag, Tag } from '@/shared/ui/parts'
import { QualityShare } from '@/shared/ui/quality'
import { BENCHMARK, longestBenchmark, furthest } from './curves'

interface Props {
  results: RangeResult[]
  curves: Curve[]
  hidden: ReadonlySet<string>
  onToggle: (id: string) => void
  fullOnly: boolean
  market: string | null
}

const COLUMNS: [keyof Metrics, TextKey][] = [
  ['total_return', 'metric.return'],
  ['annualized_return', 'metric.annualised'],
  ['volatility', 'metric.volatility'],
  ['sharpe', 'metric.sharpe'],
  ['sortino', 'metric.sortino'],
  ['max_drawdown', 'metric.drawdown'],
  ['calmar', 'metric.calmar'],
  ['win_rate', 'metric.win'],
  ['turnover', 'metric.turnover'],
  ['exposure', 'metric.exposure'],
  ['costs', 'metric.costs'],
]

/** Metrics relative to the benchmark, if there is one. */
const RELATIVE: [keyof RelativeMetrics, TextKey][] = [
  ['excess_return', 'metric.excess'],
  ['alpha', 'metric.alpha'],
  ['beta', 'metric.beta'],
  ['correlation', 'metric.correlation'],
  ['tracking_error', 'metric.tracking'],
  ['information_ratio', 'metric.information'],
  ['up_capture', 'metric.up'],
  ['down_capture', 'metric.down'],
]

export function MetricsTable({ results, curves, hidden, onToggle, fullOnly, market }: Props) {
  const t = useText()
  const format = useFormat()
  const first = furthest(results)
  const compared = longestBenchmark(results)
  const metricsOf = (id: string): Metrics | undefined => {
    // Baselines cover other days, so they are not comparable.
    if (fullOnly && id.startsWith('baseline:')) return undefined
    if (id === 'baseline:hold') return first?.baselines?.buy_and_hold.period_metrics
    if (id === BENCHMARK) return compared?.benchmark.period_metrics ?? undefined
    if (id === 'baseline:equal') return first?.baselines?.equal_weight.period_metrics
    const result = results.find((one) => one.model === id)
    return fullOnly ? result?.full_research.period_metrics : result?.period_metrics
  }
  const display = (name: keyof Metrics, value: number | null | undefined) => {
    switch (name) {
      case 'sharpe':
      case 'sortino':
      case 'calmar':
      case 'turnover':
        return format.ratio(value)
      case 'costs':
        return format.money(value, market)
      case 'total_return':
        return format.change(value)
      default:
        return format.percent(value, name === 'win_rate' || name === 'exposure' ? 0 : 2)
    }
  }
  const displayRelative = (name: keyof RelativeMetrics, value: number | null | undefined) => {
    switch (name) {
      case 'beta':
      case 'correlation':
      case 'information_ratio':
        return format.ratio(value)
      case 'excess_return':
        return format.change(value)
      default:
        return format.percent(value, name === 'alpha' || name === 'tracking_error' ? 2 : 0)
    }
  }
  return (
    <div className="scroll-x">
      <table className="grid-table">
        <thead>
          <tr>
            <th className="stays">{t('runs.agent')}</th>
            <th className="num">{t('run.metrics.count')}</th>
            <th className="num">{t('metric.value')}</th>
            {COLUMNS.map(([name, text]) => (
              <th key={name} className="num">
                {t(text)}
              </th>
            ))}
            {compared &&
              RELATIVE.map(([name, text]) => (
                <th key={name} className="num" title={t('metric.relative', { symbol: compared.benchmark.symbol })}>
                  {t(text)}
                </th>
              ))}
            <th>{t('runs.research')}</th>
          </tr>
        </thead>
        <tbody>
          {curves.map((curve) => {
            const metrics = metricsOf(curve.id)
            const result = results.find((one) => one.model === curve.id)
            return (
              <tr key={curve.id} className={curve.dashed ? 'second' : ''}>
                <td className="stays">
                  <span className="row">
                    <label className="check nowrap">
                      <input type="checkbox" checked={!hidden.has(curve.id)} onChange={() => onToggle(curve.id)} aria-label={t('run.show.line', { line: curve.label })} />
                      <span className={`legend-swatch ${curve.dashed ? 'dashed' : ''}`} style={{ '--swatch': `var(${curve.token})` } as CSSProperties} />
                      {curve.label}
                    </label>
                    {result && <HouseTag isLlm={result.is_llm} />}
                    {result?.insolvent && <Tag kind="bad">{t('orders.insolvent', { since: format.day(result.insolvent.since) })}</Tag>}
                  </span>
                </td>
                <td className="num">{format.count(metrics?.days)}</td>
                <td className="num">{result && !fullOnly ? format.money(result.ending_portfolio_value, market) : ''}</td>
                {COLUMNS.map(([name]) => {
                  const value = metrics?.[name] as number | null | undefined
                  return (
                    <td key={name} className={`num ${name === 'total_return' ? signClass(value) : ''}`}>
                      {display(name, value)}
                    </td>
                  )
                })}
                {compared &&
                  RELATIVE.map(([name]) => {
                    // Relative metrics cover all days.
                    const value = fullOnly ? undefined : result?.benchmark?.relative_metrics[name]
                    return (
                      <td key={name} className={`num ${name === 'excess_return' ? signClass(value) : ''}`}>
                        {result && !fullOnly ? displayRelative(name, value) : ''}
                      </td>
                    )
                  })}
                <td>{result && <QualityShare full={result.full_research.days} total={result.full_research.total_days} first={result.provenance.reasons[0]} />}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
