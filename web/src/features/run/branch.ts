// Where a run can be cut, and the same as a command.
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

/** Places that a run of these symbols is likely to have. The server knows which are there. */
export function placesOf(symbols: string[], agent: string): string[] {
  if (!agent.startsWith('desk')) return ['solo#1', 'post#1']
  return symbols.slice(0, 12).flatMap((symbol) => [symbol, ...ROLES.map((role) => `${symbol}/${role}#1`)])
}

/** A text as one word of a shell. */
function quoted(text: string): string {
  return /^[\w./:@+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The same as a command; `null` where there is none: a terminal cannot change the sampling. */
export function toBranchCommand(job: string, branch: Branch): string | null {
  if (branch.sampling) return null
  const parts = ['papertape branch', job, `--date ${branch.date}`]
  if (branch.agent) parts.push(`--agent ${quoted(branch.agent)}`)
  if (branch.node) parts.push(`--at ${quoted(branch.node)}`)
  if (branch.model) parts.push(`--model ${quoted(branch.model)}`)
  if (branch.instructions) parts.push(`--instructions ${quoted(branch.instructions)}`)
  return parts.join(' ')
}
