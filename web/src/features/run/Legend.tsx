// The value of each line, at its end or on the day under the pointer. A click hides the line.
import { type RefObject, useEffect, useState } from 'react'
import type { Point } from '@/charts/drawdown'
import type { Curve } from '@/charts/EquityChart'
import { LegendItem } from '@/charts/LegendItem'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'

interface Props {
  curves: Curve[]
  hidden: ReadonlySet<string>
  onToggle: (id: string) => void
  /** Receives the day under the pointer. A ref, so that pointer moves do not re-render the view. */
  day: RefObject<(date: string | null) => void>
  /** The place of the start on the axis, if the lines have one. */
  start?: string
  /** Writes a value; by default as a return. */
  display?: (value: number | null) => string
}

export function Legend({ curves, hidden, onToggle, day, start, display }: Props) {
  const t = useText()
  const format = useFormat()
  const [at, setAt] = useState<string | null>(null)
  useEffect(() => {
    day.current = setAt
  }, [day])
  const last = curves.reduce<string | null>((latest, { points }) => later(latest, points[points.length - 1]?.date ?? null), null)
  return (
    <div className="legend" role="group" aria-label={t('run.lines')}>
      {curves.map((curve) => (
        <LegendItem key={curve.id} line={curve} value={valueAt(curve.points, at)} display={display ?? format.change} isHidden={hidden.has(curve.id)} onToggle={() => onToggle(curve.id)} />
      ))}
      <span className="quiet tnum grow end">{start !== undefined && (at ?? last ?? start) === start ? t('chart.start') : format.day(at ?? last)}</span>
    </div>
  )
}

function later(a: string | null, b: string | null): string | null {
  return a === null || (b !== null && b > a) ? b : a
}

/** A line's value on a day, or the last one before it; none after its end. Without a day, its last value. */
export function valueAt(points: Point[], date: string | null): number | null {
  if (date === null) return points[points.length - 1]?.value ?? null
  if (date > (points.at(-1)?.date ?? '')) return null
  let [low, high] = [0, points.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((points[middle]?.date ?? '') <= date) low = middle + 1
    else high = middle
  }
  return points[low - 1]?.value ?? null
}
