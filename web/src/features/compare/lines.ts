// The lines and bands of a comparison's chart. No React.
import type { Point } from '@/charts/drawdown'
import { seriesStyle } from '@/charts/tokens'
import type { ComparedItem, ComparedPair } from '@/server/types'
import type { LegendLine } from '@/shared/legend'

export interface BandPoint {
  date: string
  low: number
  high: number
}

export interface Line extends LegendLine {
  id: string
  /** A baseline or a symbol, not an agent. */
  isReference: boolean
  points: Point[]
}

/** Log returns are equal up to this, which is rounding. */
const ROUNDING = 1e-9

/** Each item's return since the start. Agents have colors; baselines and symbols are dashed. */
export function linesOf(items: readonly ComparedItem[], labelOf: (item: ComparedItem) => string): Line[] {
  let agents = 0
  let baselines = 0
  return items.map((item) => {
    const isAgent = item.kind === 'agent'
    const style: Omit<LegendLine, 'label'> = isAgent ? seriesStyle(agents++) : { token: item.kind === 'symbol' ? '--benchmark' : `--baseline-${(baselines++ % 2) + 1}`, dash: 'dashed' }
    return { id: item.id, label: labelOf(item), ...style, isReference: !isAgent, points: item.curve.map((point) => ({ date: point.date, value: Math.expm1(point.log_return) })) }
  })
}

/** The cumulative difference of a pair, in log return. */
export function differenceLine(pair: ComparedPair): Point[] {
  return pair.cone.map((point) => ({ date: point.date, value: point.cumulated }))
}

/** The cone around zero. */
export function coneBand(pair: ComparedPair): BandPoint[] {
  return pair.cone.map((point) => ({ date: point.date, low: -point.half_width, high: point.half_width }))
}

/**
 * The same cone around B's line: where A's line leaves it, the cumulative difference leaves the cone. Empty if the lines
 * do not start on the same day, because then their distance is not the difference.
 */
export function bandAround(pair: ComparedPair, items: readonly ComparedItem[]): BandPoint[] {
  const curve = (id: string) => new Map(items.find((item) => item.id === id)?.curve.map((point) => [point.date, point.log_return]))
  const [a, b] = [curve(pair.a), curve(pair.b)]
  const band: BandPoint[] = []
  for (const { date, cumulated, half_width: half } of pair.cone) {
    const [ofA, ofB] = [a.get(date), b.get(date)]
    if (ofA === undefined || ofB === undefined || Math.abs(ofA - ofB - cumulated) > ROUNDING) return []
    band.push({ date, low: Math.expm1(ofB - half), high: Math.expm1(ofB + half) })
  }
  return band
}
