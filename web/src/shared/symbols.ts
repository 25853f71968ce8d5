import type { Translate } from './i18n'

/** So many symbols are named one by one; of more, the first. */
const MOST = 8
const FIRST = 6

/** What a run trades, as short as a heading must be. */
export function symbolsOf(symbols: readonly string[], t: Translate): string {
  if (symbols.length <= MOST) return symbols.join(', ')
  return t('symbols.more', { some: symbols.slice(0, FIRST).join(', '), count: symbols.length - FIRST })
}

/** The same of a run whose universe may be an index: its members are many, and others on each day. */
export function tradedOf(simulation: { symbols: readonly string[]; universe?: string | null }, t: Translate): string {
  return simulation.universe == null ? symbolsOf(simulation.symbols, t) : t('symbols.universe', { index: simulation.universe })
}
