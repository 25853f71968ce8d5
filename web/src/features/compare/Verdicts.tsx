// One row per pair: the verdict in words, the difference with its interval, days and p-value.
import type { ComparedPair, Comparison } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { IntervalPlot } from '@/shared/ui/IntervalPlot'
import { type Column, SortTable } from '@/shared/ui/table'
import css from './compare.module.css'
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
  const top = () => 'top'
  const columns: Column<ComparedPair>[] = [
    {
      id: 'pair',
      label: t('compare.pair'),
      stays: true,
      sort: (pair) => t('compare.pair.of', { a: label(pair.a), b: label(pair.b) }),
      csv: { a: (pair) => pair.a, b: (pair) => pair.b },
      className: top,
      cell: (pair) => (
        <button type="button" className="link-button" aria-pressed={pair === selected} onClick={() => onSelect(pairs.indexOf(pair))}>
          {t('compare.pair.of', { a: label(pair.a), b: label(pair.b) })}
        </button>
      ),
    },
    { id: 'verdict', label: t('compare.verdict'), sort: (pair) => pair.verdict, csv: { verdict: (pair) => pair.verdict, words: (pair) => pair.words }, className: top, cell: (pair) => <Verdict pair={pair} /> },
    {
      id: 'difference',
      label: t('compare.difference'),
      title: t('compare.difference.what'),
      num: true,
      sort: (pair) => pair.difference?.total,
      csv: { difference_log_return: (pair) => pair.difference?.total, low: (pair) => pair.difference?.total_interval?.low, high: (pair) => pair.difference?.total_interval?.high },
      className: top,
      cell: ({ difference }) => (
        <>
          {points(difference?.total, format, t)}
          <div className="quiet">{difference && (difference.total_interval ? pointsInterval(difference.total_interval, format) : t('compare.no.interval'))}</div>
        </>
      ),
    },
    {
      id: 'interval',
      label: t('compare.interval'),
      isControl: true,
      csv: null,
      className: () => css.plotCell ?? '',
      cell: ({ difference }) => difference && <IntervalPlot value={difference.total} interval={difference.total_interval ?? null} scale={scale} />,
    },
    { id: 'days', label: t('compare.days'), num: true, sort: (pair) => pair.days, className: top, cell: (pair) => format.count(pair.days) },
    { id: 'holm_p', label: t('compare.p'), num: true, sort: (pair) => pair.holm_p, className: top, cell: (pair) => pValue(pair.holm_p, format) },
  ]
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
        <SortTable label={t('compare.verdicts')} name="verdicts" columns={columns} rows={pairs} rowKey={(pair) => `${pair.a} ${pair.b}`} rowClass={(pair) => (pair === selected ? (css.selected ?? '') : '')} />
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
