// Parses step paths and series names. No React.

/** The scope of a step: `AAPL/Trader#1` for `AAPL/Trader#1/model#2`. */
export function scopeOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** The name of a step's node: `Trader`. */
export function nameOf(path: string): string {
  const own = scopeOf(path).split('/').pop() ?? ''
  const mark = own.lastIndexOf('#')
  return mark < 0 ? own : own.slice(0, mark)
}

/** The search parameters of the Data view. */
export interface DataAddress {
  dataset: string
  symbol?: string
  tab?: string
  day?: string
  from?: string
  to?: string
  series?: string
}

/** The address in the Data view of the rows that were read from a series. */
export function dataAddress(dataset: string, series: string, first: string | null | undefined, last: string | null | undefined): DataAddress {
  const [head = '', kind = '', ...rest] = series.split('/')
  if (series === 'news') return { dataset, tab: 'news' }
  if (head === 'macro') return { dataset, tab: 'macros', series: [kind, ...rest].join('/') }
  if (kind === 'news') return { dataset, tab: 'news', symbol: head }
  if (kind === 'fundamentals') return { dataset, tab: 'fundamentals', symbol: head }
  if (kind === 'bars' || kind === 'open') {
    const place: DataAddress = { dataset, symbol: head }
    if (last) place.day = last
    if (first && first !== last) place.from = first
    if (last && first !== last) place.to = last
    return place
  }
  return kind === '' ? { dataset } : { dataset, symbol: head }
}
