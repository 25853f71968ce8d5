import type { Translate } from './i18n'

/** Up to this many symbols are all listed; of more, only the first ones. */
const MAX_LISTED = 8
const LISTED_OF_MANY = 6

/** A run's symbols, short enough for a heading. */
export function symbolsOf(symbols: readonly string[], t: Translate): string {
  if (symbols.length <= MAX_LISTED) return symbols.join(', ')
  return t('symbols.more', { some: symbols.slice(0, LISTED_OF_MANY).join(', '), count: symbols.length - LISTED_OF_MANY })
}

/** What a run trades, short enough for a heading: the members of an index, or its symbols. */
export function tradedOf(simulation: { symbols: readonly string[]; universe?: string | null }, t: Translate): string {
  return simulation.universe == null ? symbolsOf(simulation.symbols, t) : t('symbols.universe', { index: simulation.universe })
}
