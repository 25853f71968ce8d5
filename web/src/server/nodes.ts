// The nodes of a session, as `GET /simulate/options` lists them. No React.
import type { NodeRule } from './types'

/** The phases of a desk's roles, in the order of its graph. */
export function deskPhases(rules: NodeRule[]): string[] {
  return [...new Set(rules.filter((rule) => rule.llm != null).map((rule) => rule.phase))]
}
