// What the command palette finds, without the network. No React.
import type { ChatSession, Plan } from '@/server/actions'
import type { ExperimentSummary, Job, Options, Session } from '@/server/types'
import type { Format } from '@/shared/format'
import { shortId } from '@/shared/ids'
import type { Translate } from '@/shared/i18n'
import { runTitle } from '@/shared/runTitle'
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
  /** The server found it, maybe by words that the entry does not show. */
  isFound?: boolean
  /** It was found for an earlier query. */
  isOutdated?: boolean
}

/** Entries per group, and in the groups in which the server searches. */
const MAX_PER_GROUP = 6
const MAX_SEARCHED = 12
const SEARCHED: Group[] = ['runs', 'sessions']

const DAY = /\b(\d{4})[-/.年]?(\d{1,2})[-/.月]?(\d{1,2})日?/

/** A day in a query: `2012-10-01`, or with other separators. */
export function dayOf(query: string): string | null {
  const found = DAY.exec(query)
  if (!found) return null
  const [, year = '', month = '', day = ''] = found
  const text = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  return Number.isNaN(Date.parse(`${text}T00:00:00Z`)) ? null : text
}

/** The words of a query without its day. */
export function withoutDay(query: string): string {
  return (dayOf(query) === null ? query : query.replace(DAY, ' ')).split(/\s+/).filter(Boolean).join(' ')
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
  const isMatch = (entry: Entry) => entry.isFound || entry.group === 'sessions' || matches(`${entry.title} ${entry.detail ?? ''} ${entry.id}`, query)
  return GROUPS.flatMap((group) => {
    const byId = new Map<string, Entry>()
    for (const entry of entries) if (entry.group === group && !byId.has(entry.id) && isMatch(entry)) byId.set(entry.id, entry)
    return [...byId.values()].slice(0, SEARCHED.includes(group) ? MAX_SEARCHED : MAX_PER_GROUP)
  })
}

const path = (...parts: string[]) => `/app/${parts.map(encodeURIComponent).join('/')}`

/** Its name, or its agents and what they trade. */
function nameOf(job: Job, t: Translate): string {
  if (!job.simulation || job.labels.name != null) return runTitle(job, t)
  return `${agentsOf(job)} · ${tradedOf(job.simulation, t)}`
}

const agentsOf = ({ simulation }: Job) => simulation?.agents.map((agent) => agent.name).join(', ') ?? ''

export function runEntries(jobs: Job[], format: Format, t: Translate): Entry[] {
  return jobs.map((job): Entry => {
    const { job_id: id, simulation, status } = job
    const end = `${t(`status.${status}`)} · ${shortId(id)}`
    // A job without days has only its log.
    if (!simulation) return { id, group: 'runs', title: nameOf(job, t), detail: end, to: `${path('runs', id)}?tab=log` }
    const contents = job.labels.name == null ? '' : `${agentsOf(job)} · ${tradedOf(simulation, t)} · `
    return { id, group: 'runs', title: nameOf(job, t), detail: `${contents}${format.span(simulation.start_date, simulation.end_date)} · ${end}`, to: path('runs', id) }
  })
}

/** The names of the agents that match all words by their name or model. */
export function agentNames(jobs: Job[], words: string): string[] {
  const agents = jobs.flatMap(({ simulation }) => simulation?.agents ?? [])
  return [...new Set(agents.filter((agent) => matches(`${agent.name} ${agent.model}`, words)).map(({ name }) => name))].sort()
}

/** The agents that match all words, by their name, their model or their run. */
function agentsMatching(jobs: Job[], words: string): { job: Job; name: string }[] {
  return jobs.flatMap((job) => {
    const { simulation, labels } = job
    if (!simulation) return []
    const run = `${simulation.symbols.join(' ')} ${labels.name ?? ''} ${labels.tags.join(' ')} ${job.job_id}`
    return simulation.agents.filter((agent) => matches(`${agent.name} ${agent.model} ${run}`, words)).map(({ name }) => ({ job, name }))
  })
}

/** The sessions on the day that the query names, of agents that match its other words. */
export function sessionEntries(jobs: Job[], query: string, format: Format, t: Translate): Entry[] {
  const day = dayOf(query)
  if (day === null) return []
  const covering = jobs.filter(({ simulation }) => simulation && day >= simulation.start_date && day <= simulation.end_date)
  return agentsMatching(covering, withoutDay(query)).map(({ job, name }) => sessionEntry(job.job_id, day, name, job, format, t))
}

/** Sessions that the server found, among them those of runs that are not loaded. */
export function foundSessions(sessions: Session[], jobs: Job[], format: Format, t: Translate): Entry[] {
  const byId = new Map(jobs.map((job) => [job.job_id, job]))
  return sessions.map(({ job_id: id, date, model }) => sessionEntry(id, date, model, byId.get(id), format, t))
}

function sessionEntry(id: string, day: string, agent: string, job: Job | undefined, format: Format, t: Translate): Entry {
  const run = job?.labels.name ?? (job?.simulation ? tradedOf(job.simulation, t) : null)
  return { id: `${id} ${agent} ${day}`, group: 'sessions', title: `${format.day(day)} · ${agent}`, detail: run === null ? shortId(id) : `${run} · ${shortId(id)}`, to: path('runs', id, day, agent) }
}

/** Resume, branch and compare, for the newest runs. */
export function runActions(jobs: Job[], canOperate: boolean, t: Translate): Entry[] {
  return jobs.slice(0, 20).flatMap((job): Entry[] => {
    const { job_id: id, simulation } = job
    if (!simulation) return []
    const run = `${job.labels.name ?? agentsOf(job)} · ${shortId(id)}`
    const compare: Entry = { id: `compare ${id}`, group: 'actions', title: t('palette.compare', { run }), to: `/app/compare?select=${encodeURIComponent(`job:${id},baseline:buy_and_hold`)}` }
    if (!canOperate) return [compare]
    const branch: Entry = { id: `branch ${id}`, group: 'actions', title: t('palette.branch', { run }), to: `${path('runs', id)}?branch=true` }
    // Its page has the button, next to why the run stopped.
    const resume: Entry = { id: `resume ${id}`, group: 'actions', title: t('palette.resume', { run }), to: path('runs', id) }
    return job.can_resume ? [resume, branch, compare] : [branch, compare]
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
