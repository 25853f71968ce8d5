/** A point of a curve. */
export interface Point {
  date: string
  /** The return since the start, as a fraction: 0.01 is one percent. */
  value: number
}

/** The drawdown from the highest value so far, as a fraction: 0 or below. */
export function drawdown(points: Point[]): Point[] {
  let peak = 0
  return points.map(({ date, value }) => {
    peak = Math.max(peak, value)
    return { date, value: (1 + value) / (1 + peak) - 1 }
  })
}
