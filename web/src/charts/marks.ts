// Fills as chart markers.

export interface Fill {
  date: string
  /** Whether it buys. A stop of a short position does. */
  buys: boolean
  quantity: number
}

/** One mark per day and side, because fills of the same day would overlap. */
export function marks(fills: Fill[]): Fill[] {
  const byKey = new Map<string, Fill>()
  for (const fill of fills) {
    const key = `${fill.date} ${fill.buys}`
    const mark = byKey.get(key)
    if (mark) mark.quantity += fill.quantity
    else byKey.set(key, { ...fill })
  }
  return [...byKey.values()].sort((a, b) => a.date.localeCompare(b.date))
}
