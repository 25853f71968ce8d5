// What was traded, as it stands on a chart.

export interface Fill {
  date: string
  /** Did it buy? A stop of a short position does. */
  buys: boolean
  quantity: number
}

/** One mark for each day and side: fills of one day would hide each other. */
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
