// The range presets of a chart.

/** Months of each preset. */
const PRESETS = { '1m': 1, '3m': 3, '6m': 6, '1y': 12 } as const

export type RangeName = keyof typeof PRESETS | 'all'

export interface Preset {
  name: RangeName
  from: string
  to: string
}

/** A date some months earlier; the last day of the month if the day does not exist. */
export function monthsBefore(date: string, months: number): string {
  const at = new Date(`${date}T00:00:00Z`)
  const day = at.getUTCDate()
  at.setUTCDate(1)
  at.setUTCMonth(at.getUTCMonth() - months + 1)
  at.setUTCDate(0)
  at.setUTCDate(Math.min(day, at.getUTCDate()))
  return at.toISOString().slice(0, 10)
}

/** The presets that show less than everything, up to the newest day; then everything. */
export function presetsOf(first: string, newest: string, last: string): Preset[] {
  if (first === '' || newest === '') return []
  const names = Object.keys(PRESETS) as (keyof typeof PRESETS)[]
  const shorter = names.map((name) => ({ name, from: monthsBefore(newest, PRESETS[name]), to: newest })).filter(({ from }) => from > first)
  return [...shorter, { name: 'all', from: first, to: last }]
}

/** The preset that is visible; `null` if it is another range. */
export function presetAt(presets: Preset[], from: string, to: string): RangeName | null {
  // A preset may begin on a day without a bar.
  const days = (a: string, b: string) => Math.abs(Date.parse(a) - Date.parse(b)) / 86_400_000
  return presets.find((preset) => days(preset.from, from) <= 4 && days(preset.to, to) <= 4)?.name ?? null
}
