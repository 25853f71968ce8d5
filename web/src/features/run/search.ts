// What is selected on the page of a run, as its address has it. Defaults are omitted. No React.
import { oneOf } from '@/shared/oneOf'

export const TABS = ['performance', 'trades', 'reviews', 'log', 'setup'] as const
export type Tab = (typeof TABS)[number]

export interface RunSearch {
  tab?: Tab | undefined
  /** Whether the branch form is open; `agent`, `date` and `node` are where the branch begins. */
  branch?: boolean | undefined
  /** The agent of the trades, and of a branch. */
  agent?: string | undefined
  date?: string | undefined
  node?: string | undefined
  /** The charted symbol of the trades. */
  symbol?: string | undefined
  /** The trades of all symbols, not only of the charted one. */
  scope?: 'all' | undefined
  /** The symbol that the run is compared with; without it, the run's own. */
  benchmark?: string | undefined
  /** Metrics of the days with full research, not of all days. */
  days?: 'full' | undefined
}

/** A text. In an address without quotes, `600519` is a number. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined
}

export function parseRunSearch(search: Record<string, unknown>): RunSearch {
  const tab = oneOf(search.tab, TABS)
  return {
    tab: tab === 'performance' ? undefined : tab,
    branch: search.branch ? true : undefined,
    agent: textOf(search.agent),
    date: textOf(search.date),
    node: textOf(search.node),
    symbol: textOf(search.symbol),
    scope: oneOf(search.scope, ['all']),
    benchmark: textOf(search.benchmark),
    days: oneOf(search.days, ['full']),
  }
}

/** Without the branch form. */
export function withoutBranch(search: RunSearch): RunSearch {
  return { ...search, branch: undefined, date: undefined, node: undefined }
}
