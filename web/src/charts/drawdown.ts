/** A day of a curve. */
export interface Point {
  date: string
  /** A fraction: 0.01 is one percent since the beginning. */
  value: number
}

/** How far under the highest value so far, as a fraction: 0 or below. */
export function drawdown(points: Point[]): Point[] {
  let top = 0
  return points.map(({ date, value }) => {
    top = Math.max(top, value)
    return { date, value: (1 + value) / (1 + top) - 1 }
  })
}
