// Suggested branch points, and the equivalent command.
import type { Branch } from '@/server/types'

/** The roles of a desk, in the order of its graph. */
const ROLES = [
  'Market Analyst',
  'Sentiment Analyst',
  'News Analyst',
  'Fundamentals Analyst',
  'Bull Researcher',
  'Bear Researcher',
  'Research Manager',
  'Trader',
  'Aggressive Analyst',
  'Conservative Analyst',
  'Neutral Analyst',
  'Portfolio Manager',
] as const

/** Nodes that a run of these symbols probably has. The server validates them. */
export function nodesOf(symbols: string[], agent: string): string[] {
  if (!agent.startsWith('desk')) return ['solo#1', 'post#1']
  return symbols.slice(0, 12).flatMap((symbol) => [symbol, ...ROLES.map((role) => `${symbol}/${role}#1`)])
}

/** Quotes a shell argument. */
function shellQuote(text: string): string {
  return /^[\w./:@+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The equivalent command; `null` if there is none: the CLI cannot change the sampling. */
export function toBranchCommand(job: string, branch: Branch): string | null {
  if (branch.sampling) return null
  const parts = ['papertape branch', job, `--date ${branch.date}`]
  if (branch.agent) parts.push(`--agent ${shellQuote(branch.agent)}`)
  if (branch.node) parts.push(`--at ${shellQuote(branch.node)}`)
  if (branch.model) parts.push(`--model ${shellQuote(branch.model)}`)
  if (branch.instructions) parts.push(`--instructions ${shellQuote(branch.instructions)}`)
  return parts.join(' ')
}
