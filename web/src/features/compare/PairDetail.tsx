// What the selected pair's verdict rests on: claim, reasons, checks, and results without a verdict.
import type { ReactNode } from 'react'
import type { ComparedItem, ComparedPair, Difference } from '@/server/types'
import { ABSENT, useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { ScrollX } from '@/shared/ui/scroll'
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
      <ScrollX label={t('compare.tests')}>
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
      </ScrollX>
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
  return (
    <table className="grid-table">
      <thead>
        <tr>
          <th>{t('compare.mismatch')}</th>
          <th>A</th>
          <th>B</th>
        </tr>
      </thead>
      <tbody>
        {pair.mismatches.map((one) => (
          <tr key={one.what}>
            <td>{codeText('compare.what', one.what, t)}</td>
            <td className={css.value}>{one.a}</td>
            <td className={css.value}>{one.b}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
