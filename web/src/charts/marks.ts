// What was traded, as it stands on a chart.

export interface Fill {
  date: string
  /** `buy`, `sell`, `short`, `cover`, `stop`, `target`, `liquidation`. */
  kind: string
  quantity: number
  price: number
  label?: string
}

const BUYS = new Set(['buy', 'cover'])

/** One mark for each day and side: fills of one day would hide each other. */
export function marks(fills: Fill[]): { date: string; buys: boolean; quantity: number; kinds: string[] }[] {
  const byKey = new Map<string, { date: string; buys: boolean; quantity: number; kinds: string[] }>()
  for (const fill of fills) {
    const buys = BUYS.has(fill.kind)
    const key = `${fill.date} ${buys}`
    const mark = byKey.get(key) ?? { date: fill.date, buys, quantity: 0, kinds: [] }
    mark.quantity += fill.quantity
    if (!mark.kinds.includes(fill.kind)) mark.kinds.push(fill.kind)
    byKey.set(key, mark)
  }
  return [...byKey.values()].sort((a, b) => a.date.localeCompare(b.date))
}
