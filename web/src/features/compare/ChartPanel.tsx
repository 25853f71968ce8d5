import { lazy, Suspense, useMemo, useState } from 'react'
import { LegendItem } from '@/charts/LegendItem'
import type { ComparedPair, Comparison } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import css from './compare.module.css'
import { coneBand, type Line, linesOf } from './lines'
import { itemLabel, nameOf } from './words'

const CompareChart = lazy(() => import('./CompareChart').then((module) => ({ default: module.CompareChart })))

interface Props {
  found: Comparison
  pair: ComparedPair | undefined
  onPick: (date: string) => void
}

export function ChartPanel({ found, pair, onPick }: Props) {
  const t = useText()
  const format = useFormat()
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [at, setAt] = useState<string | null>(null)
  const all = useMemo(() => linesOf(found.items, (item) => itemLabel(item, t)).filter((line) => line.points.length > 0), [found.items, t])
  const visible = useMemo(() => all.filter((line) => !hidden.has(line.id)), [all, hidden])
  const label = (id: string) => nameOf(found.items, id, t)
  const toggle = (id: string) => setHidden((now) => new Set(now.has(id) ? [...now].filter((one) => one !== id) : [...now, id]))
  const isCut = useMemo(() => (pair ? coneBand(pair).length === 0 : true), [pair])
  if (all.length === 0) return null
  return (
    <section className="panel" aria-label={t('compare.curves')}>
      <div className="panel-head">
        <h2>{t('compare.curves')}</h2>
        <span className="second grow">{!pair ? '' : isCut ? t('compare.cone.none') : t('compare.cone.what', { a: label(pair.a), b: label(pair.b) })}</span>
      </div>
      <div className={`legend ${css.legend}`} role="group" aria-label={t('run.lines')}>
        {all.map((line) => (
          <LegendItem key={line.id} line={line} value={valueAt(line, at)} display={format.change} isHidden={hidden.has(line.id)} onToggle={() => toggle(line.id)} />
        ))}
        <span className="quiet tnum grow end">{at === null ? '' : format.day(at)}</span>
      </div>
      <Suspense fallback={<div className={css.chartTall} />}>
        <CompareChart items={found.items} lines={visible} pair={pair} onDay={setAt} onPick={onPick} />
      </Suspense>
      {!isCut && <p className="panel-body quiet">{t('compare.cone.end')}</p>}
    </section>
  )
}

/** The value on a day, or on the last one before it; without a day, the last value. */
function valueAt({ points }: Line, date: string | null): number | null {
  if (date === null) return points[points.length - 1]?.value ?? null
  return points.findLast((point) => point.date <= date)?.value ?? null
}
