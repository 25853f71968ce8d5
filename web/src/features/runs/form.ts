// What the form of a new run holds, and what it sends.
import type { AgentBody, Dataset, Trigger } from '@/server/types'

export const HOUSE_MODELS = ['house::momentum', 'house::contrarian', 'house::buy_and_hold'] as const

export interface AgentDraft {
  kind: 'solo' | 'desk'
  model: string
  language: 'en' | 'zh'
}

export interface Draft {
  dataset: string
  symbols: string[]
  start: string
  end: string
  agents: AgentDraft[]
  cash: string
  budgetUsd: string
  seed: string
  memory: 'all' | 'rounds+open' | 'rounds' | 'off'
  summaries: boolean
  again: boolean
}

export type FieldName = 'dataset' | 'symbols' | 'start_date' | 'end_date' | 'agents' | 'initial_cash' | 'budget' | 'seed'
export type Wrong = Partial<Record<FieldName, 'missing' | 'order' | 'number' | 'twice'>>

/** The last quarter that a dataset has, but at most what there is. */
export function usualSpan(dataset: Dataset | undefined): { start: string; end: string } {
  const end = dataset?.last_day ?? ''
  if (end === '') return { start: '', end: '' }
  const from = new Date(`${end}T00:00:00Z`)
  from.setUTCMonth(from.getUTCMonth() - 1)
  const start = from.toISOString().slice(0, 10)
  const first = dataset?.first_day ?? start
  return { start: start < first ? first : start, end }
}

/** A few of them: a run of all may be long. */
export function usualSymbols(dataset: Dataset | undefined): string[] {
  return dataset?.symbols.slice(0, 5) ?? []
}

export function emptyDraft(dataset: Dataset | undefined, language: 'en' | 'zh'): Draft {
  return {
    dataset: dataset?.name ?? '',
    symbols: usualSymbols(dataset),
    ...usualSpan(dataset),
    agents: [{ kind: 'solo', model: HOUSE_MODELS[0], language }],
    cash: '10000',
    budgetUsd: '',
    seed: '0',
    memory: 'all',
    summaries: true,
    again: false,
  }
}

export function agentName(agent: AgentDraft): string {
  return agent.kind === 'desk' ? `desk:${agent.model.trim()}` : agent.model.trim()
}

export function check(draft: Draft): Wrong {
  const wrong: Wrong = {}
  if (draft.symbols.length === 0) wrong.symbols = 'missing'
  if (draft.end === '') wrong.end_date = 'missing'
  if (draft.start !== '' && draft.end !== '' && draft.start > draft.end) wrong.end_date = 'order'
  if (draft.agents.some((agent) => agent.model.trim() === '')) wrong.agents = 'missing'
  const names = draft.agents.map(agentName)
  if (new Set(names).size < names.length) wrong.agents = 'twice'
  if (!(Number(draft.cash) > 0)) wrong.initial_cash = 'number'
  if (draft.budgetUsd !== '' && !(Number(draft.budgetUsd) >= 0)) wrong.budget = 'number'
  if (!/^\d+$/.test(draft.seed)) wrong.seed = 'number'
  return wrong
}

export function toTrigger(draft: Draft): Trigger {
  const agents: AgentBody[] = draft.agents.map((agent) => ({
    name: agentName(agent),
    kind: agent.kind,
    model: agent.model.trim(),
    language: agent.language,
  }))
  return {
    dataset: draft.dataset || null,
    symbols: draft.symbols,
    start_date: draft.start || null,
    end_date: draft.end,
    agents,
    initial_cash: Number(draft.cash),
    budget: draft.budgetUsd === '' ? null : { job: { usd: Number(draft.budgetUsd) } },
    seed: Number(draft.seed),
    memory: draft.memory,
    summaries: draft.summaries,
    replace_existing: draft.again,
  }
}

/** The same as a command. */
export function toCommand(draft: Draft): string {
  const parts = ['papertape run']
  if (draft.agents.some((agent) => agent.kind === 'desk')) parts.push('--agent desk')
  for (const agent of draft.agents) parts.push(`--model ${agent.model.trim() || '…'}`)
  if (draft.dataset) parts.push(`--dataset ${draft.dataset}`)
  parts.push(`--symbols ${draft.symbols.join(',')}`)
  if (draft.start) parts.push(`--start ${draft.start}`)
  parts.push(`--end ${draft.end}`)
  if (draft.budgetUsd !== '') parts.push(`--budget-usd ${draft.budgetUsd}`)
  if (draft.again) parts.push('--replace')
  return parts.join(' ')
}
