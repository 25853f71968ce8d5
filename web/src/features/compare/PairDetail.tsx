// What the selected pair's verdict rests on: claim, reasons, checks, and results without a verdict.
import type { ReactNode } from 'react'
import type { ComparedItem, ComparedPair, Difference } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { ABSENT, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { type Column, SortTable, TableFrame } from '@/shared/ui/table'
import css from './compare.module.css'
import { Verdict } from './Verdicts'
import { codeText, nameOf, points, pointsInterval, pValue } from './words'

interface Props {
  pair: ComparedPair
  items: ComparedItem[]
  /** The difference per year, in points, that `days_needed` is about. */
  target: number
}

export function PairDetail({ pair, items, target }: Props) {
  const t = useText()
  const format = useFormat()
  const a = nameOf(items, pair.a, t)
  const b = nameOf(items, pair.b, t)
  // As a reason, the verdict has it already.
  const isStated = pair.verdict === 'not_distinguishable'
  return (
    <div className={`panel-body ${css.detail}`}>
      <div className="stack">
        <h3>
          {t('compare.pair.of', { a, b })} <Verdict pair={pair} />
        </h3>
        {pair.claim && (
          <p lang="en" title={pair.estimand ? codeText('compare.estimand', pair.estimand, t) : undefined}>
            {pair.claim}
          </p>
        )}
        <ul className={css.reasons} lang="en">
          {pair.reasons.map((reason) => (
            <li key={reason}>{reason}</li>
          ))}
        </ul>
        {pair.mismatches.length > 0 && <Mismatches pair={pair} />}
      </div>
      <TableFrame label={t('compare.tests')} name="comparison-tests" csv={() => testsOf(pair)}>
        <table className={`grid-table ${css.checks}`} aria-label={t('compare.tests')}>
          <thead>
            <tr>
              <th>{t('compare.tests')}</th>
              <th className="num">{t('compare.difference')}</th>
              <th className="num">{t('compare.interval')}</th>
              <th className="num">{t('compare.year')}</th>
              <th className="num">{t('compare.days')}</th>
              <th className="num">{t('compare.p')}</th>
            </tr>
          </thead>
          <tbody>
            <Test name={t('compare.test.all')} difference={pair.difference} holm={pair.holm_p} />
            <Test name={t('compare.test.refilled')} difference={pair.refilled.difference} holm={pair.refilled.holm_p} missing={pair.refilled.unavailable} />
            <Test name={t('compare.test.net')} difference={pair.net_of_model_cost.difference} holm={pair.net_of_model_cost.holm_p} missing={pair.net_of_model_cost.unavailable} />
            <Test name={t('compare.test.full')} title={t('compare.test.full.what')} difference={pair.full_research} holm={null} />
            {pair.trial_spread && (
              <Line name={t('compare.test.spread')} title={t('compare.test.spread.what')}>
                <td className="num">{points(pair.trial_spread.difference, format, t, 3)}</td>
                <td className="num">{pointsInterval(pair.trial_spread.interval, format, 1, 3)}</td>
                <td className="num">{ABSENT}</td>
                <td className="num">{ABSENT}</td>
                <td className="num">{ABSENT}</td>
              </Line>
            )}
            {pair.sharpe && (
              <Line name={t('compare.test.sharpe')} title={t('compare.test.sharpe.what')}>
                <td className="num">{format.signed(pair.sharpe.annualized, 2)}</td>
                <td className="num">
                  [{format.signed(pair.sharpe.interval.low, 2)}, {format.signed(pair.sharpe.interval.high, 2)}]
                </td>
                <td className="num">{ABSENT}</td>
                <td className="num">{format.count(pair.sharpe.days)}</td>
                <td className="num">{ABSENT}</td>
              </Line>
            )}
          </tbody>
        </table>
      </TableFrame>
      <p className="second">
        {t('compare.days.differ', { days: pair.days, different: pair.different_days })}
        {pair.windows_ahead && ` ${t('compare.ahead', { ahead: pair.windows_ahead.ahead, of: pair.windows_ahead.of, a })}`}
        {!isStated && pair.min_detectable_points != null && ` ${t('compare.detectable', { points: format.digits(pair.min_detectable_points, 1) })}`}
        {!isStated && pair.min_detectable_points != null &&
          ` ${pair.days_needed == null ? t('compare.days.never', { target }) : t('compare.days.needed', { days: pair.days_needed, target })}`}
        {pair.variance && ` ${t('compare.variance', { days: format.percent(shareOf(pair.variance.days, pair.variance.trials), 0), trials: format.percent(shareOf(pair.variance.trials, pair.variance.days), 0) })}`}
      </p>
    </div>
  )
}

/** A row for each test. Differences are of log returns; the Sharpe ratio's is annualized. */
function testsOf(pair: ComparedPair): TableData {
  const row = (test: string, difference: Difference | null | undefined, holm: number | null | undefined, unavailable?: string | null) => [
    pair.a, pair.b, test, difference?.total, difference?.total_interval?.low, difference?.total_interval?.high, difference?.per_year, difference?.days, holm, unavailable,
  ]
  const { trial_spread: spread, sharpe, refilled, net_of_model_cost: net } = pair
  return {
    columns: ['a', 'b', 'test', 'difference', 'low', 'high', 'difference_per_year', 'days', 'holm_p', 'unavailable'],
    rows: [
      row('all_days', pair.difference, pair.holm_p),
      row('refilled_at_next_open', refilled.difference, refilled.holm_p, refilled.unavailable),
      row('net_of_model_cost', net.difference, net.holm_p, net.unavailable),
      row('full_research', pair.full_research, null),
      ...(spread ? [[pair.a, pair.b, 'trial_spread', spread.difference, spread.interval?.low, spread.interval?.high, null, null, null, null]] : []),
      ...(sharpe ? [[pair.a, pair.b, 'annualized_sharpe', sharpe.annualized, sharpe.interval.low, sharpe.interval.high, null, sharpe.days, null, null]] : []),
    ],
  }
}

function shareOf(part: number, rest: number): number {
  return part + rest === 0 ? 0 : part / (part + rest)
}

interface TestProps {
  name: string
  title?: string
  difference: Difference | null | undefined
  /** The p-value of the family; `null` without a test. */
  holm: number | null | undefined
  /** Why there is no difference. */
  missing?: string | null | undefined
}

function Test({ name, title, difference, holm, missing }: TestProps) {
  const t = useText()
  const format = useFormat()
  if (!difference) {
    if (missing == null) return null
    return (
      <Line name={name} title={title}>
        <td colSpan={5} className={`second ${css.missing}`} lang="en">
          {missing}
        </td>
      </Line>
    )
  }
  return (
    <Line name={name} title={title}>
      <td className="num">{points(difference.total, format, t)}</td>
      <td className="num">{difference.total_interval ? pointsInterval(difference.total_interval, format) : t('compare.no.interval')}</td>
      <td className="num">{difference.per_year == null ? <span title={t('compare.no.year')}>{ABSENT}</span> : points(difference.per_year, format, t)}</td>
      <td className="num">{format.count(difference.days)}</td>
      <td className="num">{pValue(holm, format)}</td>
    </Line>
  )
}

function Line({ name, title, children }: { name: string; title?: string | undefined; children: ReactNode }) {
  return (
    <tr>
      <th scope="row" title={title}>
        {name}
      </th>
      {children}
    </tr>
  )
}

function Mismatches({ pair }: { pair: ComparedPair }) {
  const t = useText()
  const columns: Column<ComparedPair['mismatches'][number]>[] = [
    { id: 'what', label: t('compare.mismatch'), sort: (one) => one.what, cell: (one) => codeText('compare.what', one.what, t) },
    { id: 'a', label: 'A', sort: (one) => one.a, cell: (one) => one.a, className: () => css.value ?? '' },
    { id: 'b', label: 'B', sort: (one) => one.b, cell: (one) => one.b, className: () => css.value ?? '' },
  ]
  return <SortTable label={t('compare.mismatch')} name="comparison-mismatches" columns={columns} rows={pair.mismatches} rowKey={(one) => one.what} />
}
