// What the command palette finds, without the network. No React.
import type { ChatSession, Plan } from '@/server/actions'
import type { ExperimentSummary, Job, Options } from '@/server/types'
import type { Format } from '@/shared/format'
import { shortId } from '@/shared/ids'
import type { Translate } from '@/shared/i18n'
import { tradedOf } from '@/shared/symbols'

export type Group = 'actions' | 'views' | 'runs' | 'sessions' | 'experiments' | 'symbols' | 'plans' | 'chats' | 'messages'

export const GROUPS: Group[] = ['sessions', 'runs', 'experiments', 'symbols', 'plans', 'chats', 'actions', 'views', 'messages']

export interface Entry {
  id: string
  group: Group
  title: string
  /** Next to the title. */
  detail?: string
  /** An address within the UI; absent for an action on the page. */
  to?: string
  run?: () => void
}

/** Entries per group. */
const MAX_PER_GROUP = 6

/** A day in a query: `2012-10-01`, or with other separators. */
export function dayOf(query: string): string | null {
  const found = /\b(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})日?/.exec(query)
  if (!found) return null
  const [, year = '', month = '', day = ''] = found
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return Number.isNaN(Date.parse(`${text}T00:00:00Z`)) ? null : text
}

/** Whether a text contains all words of a query, in any order. */
export function matches(text: string, query: string): boolean {
  const lower = text.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => lower.includes(word))
}

/** The entries that match, at most a few per group, in the order of the groups. */
export function found(entries: Entry[], query: string): Entry[] {
  return GROUPS.flatMap((group) => entries.filter((entry) => entry.group === group && (group === 'sessions' || group === 'messages' || matches(`${entry.title} ${entry.detail ?? ''} ${entry.id}`, query))).slice(0, MAX_PER_GROUP))
}

const path = (...parts: string[]) => `/app/${parts.map(encodeURIComponent).join('/')}`

export function runEntries(jobs: Job[], format: Format, t: Translate): Entry[] {
  return jobs.flatMap(({ job_id: id, simulation, status }): Entry[] =>
    simulation ? [{ id, group: 'runs', title: `${simulation.agents.map((agent) => agent.name).join(', ')} · ${tradedOf(simulation, t)}`, detail: `${format.span(simulation.start_date, simulation.end_date)} · ${t(`status.${status}`)} · ${shortId(id)}`, to: path('runs', id) }] : [],
  )
}

/** The sessions on the day that the query names, of agents that match its other words. */
export function sessionEntries(jobs: Job[], query: string, format: Format, t: Translate): Entry[] {
  const day = dayOf(query)
  if (day === null) return []
  const rest = query.replace(/\b\d{4}[-/.年]?\d{1,2}[-/.月]?\d{1,2}日?/, ' ')
  return jobs.flatMap(({ job_id: id, simulation }) => {
    if (!simulation || day < simulation.start_date || day > simulation.end_date) return []
    return simulation.agents
      .filter((agent) => matches(`${agent.name} ${agent.model} ${simulation.symbols.join(' ')} ${id}`, rest))
      .map((agent): Entry => ({ id: `${id} ${agent.name} ${day}`, group: 'sessions', title: `${format.day(day)} · ${agent.name}`, detail: `${tradedOf(simulation, t)} · ${shortId(id)}`, to: path('runs', id, day, agent.name) }))
  })
}

/** Resume, branch and compare, for the newest runs. */
export function runActions(jobs: Job[], canOperate: boolean, t: Translate): Entry[] {
  return jobs.slice(0, 20).flatMap((job): Entry[] => {
    const { job_id: id, simulation } = job
    if (!simulation) return []
    const run = `${simulation.agents.map((agent) => agent.name).join(', ')} · ${shortId(id)}`
    const compare: Entry = { id: `compare ${id}`, group: 'actions', title: t('palette.compare', { run }), to: `/app/compare?select=${encodeURIComponent(`job:${id},baseline:buy_and_hold`)}` }
    if (!canOperate) return [compare]
    const branch: Entry = { id: `branch ${id}`, group: 'actions', title: t('palette.branch', { run }), to: `${path('runs', id)}?branch=true` }
    const canResume = job.status === 'partial' || job.status === 'failed' || job.status === 'cancelled'
    // Its page has the button, next to why the run stopped.
    const resume: Entry = { id: `resume ${id}`, group: 'actions', title: t('palette.resume', { run }), to: path('runs', id) }
    return canResume ? [resume, branch, compare] : [branch, compare]
  })
}

export function experimentEntries(experiments: ExperimentSummary[], format: Format): Entry[] {
  return experiments.map((one) => ({ id: one.experiment_id, group: 'experiments', title: one.agents.join(', '), detail: `${format.span(one.start_date, one.planned_last_day)} · ${shortId(one.experiment_id)}`, to: path('experiments', one.experiment_id) }))
}

export function symbolEntries(options: Options | undefined, t: Translate): Entry[] {
  return (options?.datasets ?? []).flatMap((dataset) =>
    dataset.symbols.map((symbol): Entry => ({ id: `${dataset.name} ${symbol}`, group: 'symbols', title: t('palette.symbol', { symbol, dataset: dataset.name }), to: `/app/data?dataset=${encodeURIComponent(dataset.name)}&symbol=${encodeURIComponent(symbol)}` })),
  )
}

export function planEntries(plans: Plan[], t: Translate): Entry[] {
  return plans.map((plan) => ({ id: `plan ${plan.id}`, group: 'plans', title: t('palette.plan', { name: plan.name }), to: `/app/plans?plan=${plan.id}` }))
}

export function chatEntries(chats: ChatSession[], t: Translate): Entry[] {
  return chats.map((chat) => ({ id: `chat ${chat.id}`, group: 'chats', title: t('palette.chat', { title: chat.title || shortId(chat.id) }), to: `/app/chat?session=${encodeURIComponent(chat.id)}` }))
}

/** Characters of context on each side of a hit. */
const CONTEXT = 70

/** A part of a text around the first word of a query. */
export function excerpt(text: string, query: string): string {
  const [first = ''] = query.toLowerCase().split(/\s+/).filter(Boolean)
  const at = Math.max(0, text.toLowerCase().indexOf(first))
  const from = Math.max(0, at - CONTEXT)
  const to = Math.min(text.length, at + first.length + CONTEXT)
  return `${from > 0 ? '…' : ''}${text.slice(from, to).replace(/\s+/g, ' ').trim()}${to < text.length ? '…' : ''}`
}
