// Presets of the New run form: what people start with.
import type { DatasetOption, Options } from '@/server/types'
import { type AgentDraft, type Draft, emptyAgent, pickSymbols, symbolsOf } from './form'

export type PresetName = 'quick' | 'quarter' | 'trials'
export const PRESETS: PresetName[] = ['quick', 'quarter', 'trials']

/** Calendar days and symbols of a quick look. */
const QUICK_DAYS = 14
const QUICK_SYMBOLS = 2
const TRIALS = 3

/** What a preset changes. Agents and symbols that were chosen stay, except where a preset is about their number. */
export function presetOf(name: PresetName, draft: Draft, options: Options): Partial<Draft> {
  const dataset = options.datasets.find((one) => one.name === draft.dataset)
  const [agent] = draft.agents
  switch (name) {
    case 'quick':
      return {
        ...lastDays(dataset, QUICK_DAYS),
        universe: '',
        symbols: (symbolsOf(draft, dataset).length > 0 ? symbolsOf(draft, dataset) : pickSymbols(dataset, QUICK_SYMBOLS)).slice(0, QUICK_SYMBOLS).join(', '),
        agents: agent ? [agent] : draft.agents,
        trials: '1',
        windows: '',
      }
    case 'quarter':
      return { ...lastQuarter(dataset), symbols: enough(draft, dataset), trials: '1', windows: '' }
    case 'trials':
      return { ...lastQuarter(dataset), symbols: enough(draft, dataset), agents: atLeastTwo(draft.agents, options), trials: String(TRIALS), windows: '', done: 'skip' }
  }
}

/** The chosen symbols, or the default ones if only a few were chosen. */
function enough(draft: Draft, dataset: DatasetOption | undefined): string {
  return symbolsOf(draft, dataset).length > QUICK_SYMBOLS ? draft.symbols : pickSymbols(dataset).join(', ')
}

/** With a single agent there is nothing to compare: adds a model that can be called, one that is not an LLM last. */
function atLeastTwo(agents: AgentDraft[], options: Options): AgentDraft[] {
  const [first] = agents
  if (!first || agents.length > 1) return agents
  const usable = options.models.filter((one) => one.usable && one.model !== first.model).sort((a, b) => Number(b.is_llm) - Number(a.is_llm))
  return usable[0] ? [...agents, emptyAgent(usable[0].model, first.language, options)] : agents
}

function lastDays(dataset: DatasetOption | undefined, days: number): { start: string; end: string } {
  const end = dataset?.last_day ?? ''
  if (end === '') return { start: '', end: '' }
  const at = new Date(`${end}T00:00:00Z`)
  at.setUTCDate(at.getUTCDate() - days + 1)
  return { start: later(iso(at), dataset?.first_day), end }
}

/** The dataset's last complete calendar quarter; its last three months if there is none. */
export function lastQuarter(dataset: DatasetOption | undefined): { start: string; end: string } {
  const last = dataset?.last_day ?? ''
  if (last === '') return { start: '', end: '' }
  const after = new Date(`${last}T00:00:00Z`)
  after.setUTCDate(after.getUTCDate() + 1)
  const quarter = Math.floor(after.getUTCMonth() / 3) * 3
  const start = iso(new Date(Date.UTC(after.getUTCFullYear(), quarter - 3, 1)))
  const end = iso(new Date(Date.UTC(after.getUTCFullYear(), quarter, 0)))
  if (start >= (dataset?.first_day ?? '')) return { start, end }
  const at = new Date(`${last}T00:00:00Z`)
  at.setUTCMonth(at.getUTCMonth() - 3)
  return { start: later(iso(at), dataset?.first_day), end: last }
}

function iso(at: Date): string {
  return at.toISOString().slice(0, 10)
}

function later(day: string, bound: string | null | undefined): string {
  return bound != null && day < bound ? bound : day
}
