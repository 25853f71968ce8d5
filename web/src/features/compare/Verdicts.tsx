// One row per pair: the verdict in words, the difference with its interval, days and p-value.
import type { ComparedPair, Comparison } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { ScrollX } from '@/shared/ui/scroll'
import css from './compare.module.css'
import { IntervalPlot } from './IntervalPlot'
import { nameOf, points, pointsInterval, pValue, VERDICT_MARKS, verdictText } from './words'

interface Props {
  found: Comparison
  selected: ComparedPair | undefined
  onSelect: (index: number) => void
}

export function Verdicts({ found, selected, onSelect }: Props) {
  const t = useText()
  const format = useFormat()
  const { family, pairs, items } = found
  const label = (id: string) => nameOf(items, id, t)
  const scale = scaleOf(pairs)
  return (
    <>
      <div className="panel-head">
        <h2>{t('compare.verdicts')}</h2>
        <span className="second grow">
          {t(family.kind === 'against' ? 'compare.family.against' : 'compare.family.pairs', { count: family.tests, level: format.digits(family.level, 2), against: label(family.against ?? '') })}{' '}
          {t(family.declared_by ? 'compare.family.declared' : 'compare.family.chosen')}
        </span>
      </div>
      {pairs.length === 0 ? (
        <p className="panel-body second">{t('compare.no.pairs')}</p>
      ) : (
        <ScrollX label={t('compare.verdicts')}>
          <table className={`grid-table ${css.verdicts}`}>
            <thead>
              <tr>
                <th>{t('compare.pair')}</th>
                <th>{t('compare.verdict')}</th>
                <th className="num" title={t('compare.difference.what')}>
                  {t('compare.difference')}
                </th>
                <th className={css.plotHead}>
                  <span className="hidden-label">{t('compare.interval')}</span>
                </th>
                <th className="num">{t('compare.days')}</th>
                <th className="num">{t('compare.p')}</th>
              </tr>
            </thead>
            <tbody>
              {pairs.map((pair, index) => (
                <tr key={`${pair.a} ${pair.b}`} className={pair === selected ? css.selected : undefined}>
                  <td>
                    <button type="button" className="link-button" aria-pressed={pair === selected} onClick={() => onSelect(index)}>
                      {t('compare.pair.of', { a: label(pair.a), b: label(pair.b) })}
                    </button>
                  </td>
                  <td>
                    <Verdict pair={pair} />
                  </td>
                  <td className="num">
                    {points(pair.difference?.total, format, t)}
                    <div className="quiet">{pair.difference && (pair.difference.total_interval ? pointsInterval(pair.difference.total_interval, format) : t('compare.no.interval'))}</div>
                  </td>
                  <td className={css.plotCell}>
                    {pair.difference && <IntervalPlot value={pair.difference.total} interval={pair.difference.total_interval ?? null} scale={scale} />}
                  </td>
                  <td className="num" data-label={t('compare.days')}>
                    {format.count(pair.days)}
                  </td>
                  <td className="num" data-label={t('compare.p')}>
                    {pValue(pair.holm_p, format)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollX>
      )}
      {found.any_better && (
        <p className="panel-body second">
          {t('compare.spa', { count: found.any_better.items, against: label(family.against ?? ''), p: pValue(found.any_better.p_value, format), days: found.any_better.days })}
        </p>
      )}
    </>
  )
}

export function Verdict({ pair }: { pair: ComparedPair }) {
  const t = useText()
  return (
    <span className={`${css.verdict} ${css[pair.verdict] ?? ''}`} data-verdict={pair.verdict} title={pair.words}>
      <span aria-hidden="true">{VERDICT_MARKS[pair.verdict]}</span> {verdictText(pair, t)}
    </span>
  )
}

/** The largest distance from zero of all differences and their intervals. */
function scaleOf(pairs: ComparedPair[]): number {
  const ends = pairs.flatMap(({ difference }) => (difference ? [difference.total, difference.total_interval?.low ?? 0, difference.total_interval?.high ?? 0] : []))
  return Math.max(1e-6, ...ends.map(Math.abs))
}
