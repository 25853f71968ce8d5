// Where things stand: of a step's path, and of a series that was read. Pure.

/** `AAPL/Trader#1/model#2` is a step of the scope `AAPL/Trader#1`. */
export function scopeOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/** The node's name: `Trader`. */
export function nameOf(path: string): string {
  const own = scopeOf(path).split('/').pop() ?? ''
  const mark = own.lastIndexOf('#')
  return mark < 0 ? own : own.slice(0, mark)
}

/** An address of the view Data. */
export interface DataPlace {
  dataset: string
  symbol?: string
  tab?: string
  day?: string
  from?: string
  to?: string
  series?: string
}

/** Where the rows stand that a read of a series has shown. */
export function dataPlace(dataset: string, series: string, first: string | null | undefined, last: string | null | undefined): DataPlace {
  const [head = '', kind = '', ...rest] = series.split('/')
  if (series === 'news') return { dataset, tab: 'news' }
  if (head === 'macro') return { dataset, tab: 'macros', series: [kind, ...rest].join('/') }
  if (kind === 'news') return { dataset, tab: 'news', symbol: head }
  if (kind === 'fundamentals') return { dataset, tab: 'fundamentals', symbol: head }
  if (kind === 'bars' || kind === 'open') {
    const place: DataPlace = { dataset, symbol: head }
    if (last) place.day = last
    if (first && first !== last) place.from = first
    if (last && first !== last) place.to = last
    return place
  }
  return kind === '' ? { dataset } : { dataset, symbol: head }
}
