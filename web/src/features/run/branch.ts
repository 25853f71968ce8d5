// Suggested branch points.
import type { NodeRule } from '@/server/types'

/** Suggestions for this many symbols. A desk of a large universe would have thousands. */
const MAX_SYMBOLS = 12
const KINDS = ['solo', 'external']

/** The agents whose day has this node; `null` for all of them. */
function kindOf(rule: NodeRule): string | null {
  if (rule.llm != null || rule.phase === 'orders') return 'desk'
  return KINDS.includes(rule.phase) ? rule.phase : null
}

/**
 * Where a day of this kind of agent can be cut, in the order of the day. A desk's symbol has nodes from its first bar on,
 * which the server checks.
 */
export function cutsOf(rules: NodeRule[], kind: string, symbols: string[]): string[] {
  const own = rules.filter((rule) => [kind, null].includes(kindOf(rule)))
  const roles = own.filter((rule) => rule.llm != null)
  return own.flatMap((rule) => {
    if (rule.llm == null) return [`${rule.name}#1`]
    if (rule !== roles[0]) return []
    return symbols.slice(0, MAX_SYMBOLS).flatMap((symbol) => [symbol, ...roles.map((role) => `${symbol}/${role.name}#1`)])
  })
}

/** A node and a step of this kind of agent. */
export function exampleCuts(kind: string, symbols: string[]): string {
  const symbol = symbols[0] ?? 'AAPL'
  if (kind === 'desk') return `${symbol}, ${symbol}/Trader#1`
  return kind === 'external' ? 'external#1, external#1/turn#3' : 'solo#1, solo#1/model#3'
}
