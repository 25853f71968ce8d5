// The metrics of agents and baselines. The table is also a legend of the chart.
import type { Curve } from '@/charts/EquityChart'
import { Swatch } from '@/charts/Swatch'
import type { Metrics, RangeResult, RelativeMetrics } from '@/server/types'
import { signClass, useFormat } from '@/shared/format'
import { type TextKey, useText } from '@/shared/i18n'
import { HouseTag } from '@/shared/ui/parts'
import { ResultMarks } from '@/shared/ui/resultMarks'
import { type Column, SortTable } from '@/shared/ui/table'
import { BENCHMARK, longestBenchmark, furthest } from './curves'
import css from './run.module.css'

interface Props {
  results: RangeResult[]
  curves: Curve[]
  hidden: ReadonlySet<string>
  onToggle: (id: string) => void
  fullOnly: boolean
  market: string | null
  /** Whether the model cost of the run is unknown. */
  isCostUnknown: boolean
}

/** The metrics that are numbers. */
type NumberName = { [K in keyof Metrics]-?: NonNullable<Metrics[K]> extends number ? K : never }[keyof Metrics]

const COLUMNS: [NumberName, TextKey][] = [
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

export function MetricsTable({ results, curves, hidden, onToggle, fullOnly, market, isCostUnknown }: Props) {
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
  const resultOf = (id: string) => results.find((one) => one.model === id)
  // Relative metrics cover all days.
  const relativeOf = (id: string, name: keyof RelativeMetrics) => (fullOnly ? undefined : resultOf(id)?.benchmark?.relative_metrics[name])
  const columns: Column<Curve>[] = [
    {
      id: 'agent',
      label: t('runs.agent'),
      stays: true,
      sort: (curve) => curve.label,
      csv: { agent: (curve) => curve.label, kind: (curve) => (resultOf(curve.id) ? 'agent' : 'baseline'), is_llm: (curve) => resultOf(curve.id)?.is_llm, insolvent_since: (curve) => resultOf(curve.id)?.insolvent?.since },
      cell: (curve) => {
        const result = resultOf(curve.id)
        return (
          <span className={`row wrap ${css.metricsAgent}`}>
            <label className="check">
              <input type="checkbox" checked={!hidden.has(curve.id)} onChange={() => onToggle(curve.id)} aria-label={t('run.show.line', { line: curve.label })} />
              <Swatch line={curve} />
              {curve.label}
            </label>
            {result && <HouseTag isLlm={result.is_llm} />}
          </span>
        )
      },
    },
    {
      // Always visible, so that no number is read without it.
      id: 'research',
      label: t('runs.research'),
      stays: 'end',
      csv: {
        full_research_days: (curve) => resultOf(curve.id)?.full_research.days,
        research_days: (curve) => resultOf(curve.id)?.full_research.total_days,
        point_in_time: (curve) => resultOf(curve.id)?.provenance.point_in_time,
        point_in_time_reason: (curve) => resultOf(curve.id)?.provenance.point_in_time_reason?.kind,
        mask: (curve) => resultOf(curve.id)?.masked?.mask,
      },
      sort: (curve) => {
        const research = resultOf(curve.id)?.full_research
        return research && research.total_days > 0 ? research.days / research.total_days : null
      },
      cell: (curve) => {
        const result = resultOf(curve.id)
        return (
          result && (
            <span className={`row wrap ${css.marks}`}>
              <ResultMarks result={result} metrics={metricsOf(curve.id)} isCostUnknown={isCostUnknown && result.is_llm !== false} />
            </span>
          )
        )
      },
    },
    { id: 'days', label: t('run.metrics.count'), num: true, sort: (curve) => metricsOf(curve.id)?.days, cell: (curve) => format.count(metricsOf(curve.id)?.days) },
    {
      id: 'value',
      label: t('metric.value'),
      num: true,
      sort: (curve) => (fullOnly ? null : resultOf(curve.id)?.ending_portfolio_value),
      csv: { ending_portfolio_value: (curve) => (fullOnly ? null : resultOf(curve.id)?.ending_portfolio_value) },
      cell: (curve) => {
        const result = resultOf(curve.id)
        return result && !fullOnly ? format.money(result.ending_portfolio_value, market) : ''
      },
    },
    ...COLUMNS.map(([name, text]): Column<Curve> => {
      const value = (curve: Curve) => metricsOf(curve.id)?.[name]
      return { id: name, label: t(text), num: true, sort: value, cell: (curve) => display(name, value(curve)), className: (curve) => (name === 'total_return' ? signClass(value(curve)) : '') }
    }),
    ...(compared
      ? RELATIVE.map(([name, text]): Column<Curve> => ({
          id: name,
          label: t(text),
          title: t('metric.relative', { symbol: compared.benchmark.symbol }),
          num: true,
          sort: (curve) => relativeOf(curve.id, name),
          cell: (curve) => (resultOf(curve.id) && !fullOnly ? displayRelative(name, relativeOf(curve.id, name)) : ''),
          className: (curve) => (name === 'excess_return' ? signClass(relativeOf(curve.id, name)) : ''),
        }))
      : []),
  ]
  return <SortTable label={t('run.metrics')} name={fullOnly ? 'metrics-full-research' : 'metrics'} columns={columns} rows={curves} rowKey={(curve) => curve.id} rowClass={(curve) => (curve.isReference ? 'second' : '')} />
}
