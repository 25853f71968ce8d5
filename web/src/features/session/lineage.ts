// The lineage of a fill. No React.
import type { DayResult, Exposure, RecalledBlock, Message, Session, Sizing, Step, Trade } from '@/server/types'
import { argumentOf, sizingOf } from '@/server/recorded'
import { decisionOf } from './decision'
import { type NodeTable, placeOf } from './desk'
import { phaseOf } from './readers'

const ORDER_TOOLS = new Set(['buy', 'sell', 'short', 'cover'])

export interface Link {
  /** The node's scope. */
  scope: string
  path: string
  name: string
  /** Its last message. */
  text: string
}

export interface Lineage {
  /** The session that placed the order, if it is an earlier one. */
  otherSession: { session_id: number; date: string } | null
  /** The step that booked the fill. */
  fillPath: string | null
  /** The step of the order; `null` if the books executed it themselves, or if unknown. */
  orderPath: string | null
  /** The agent's reason for the order. */
  reason: string | null
  decision: Link | null
  /** The nodes that led to the decision, nearest first. */
  before: Link[]
  cuts: NonNullable<Sizing['cuts']>
  reads: Exposure[]
  /** The memories in the prompts, with their steps. */
  memories: (RecalledBlock['items'][number] & { path: string })[]
}

function lastOpinion(messages: Message[], symbol: string, name: string): Link | null {
  const own = messages.filter((message) => {
    const place = placeOf(message.path)
    return message.role === 'assistant' && message.content !== '' && place.name === name && (place.symbol === symbol || place.symbol === null)
  })
  const last = own[own.length - 1]
  return last ? { scope: placeOf(last.path).scope, path: last.path, name, text: last.content } : null
}

/** The roles whose response is a desk's decision. */
function decidingOf(table: NodeTable): string[] {
  return table.roles.filter((role) => role.decides).map((role) => role.name)
}

function orderIdOf(message: Message): string | null {
  try {
    const answer = JSON.parse(message.content) as { order_id?: unknown }
    return answer.order_id === undefined ? null : String(answer.order_id)
  } catch {
    return null
  }
}

export function lineageOf(
  table: NodeTable,
  trade: Pick<Trade, 'order_id' | 'symbol'> & Partial<Pick<Trade, 'order' | 'path'>>,
  session: Session,
  day: DayResult | null,
  steps: Step[],
  exposures: Exposure[],
  recalled: RecalledBlock[],
): Lineage {
  const messages = session.conversation ?? []
  const symbol = trade.symbol
  const sizing = sizingOf(day)
  const memories = recalled
    .filter((one) => placeOf(one.path).symbol === symbol || placeOf(one.path).symbol === null)
    .flatMap((one) => one.items.map((item) => ({ ...item, path: one.path })))
  const ofSymbol = exposures.filter((one) => isAbout(one, symbol) && phaseOf(table, one.path) !== 'books')

  const order = trade.order
  const isOtherSession = order != null && order.session_id !== session.session_id
  const base = {
    otherSession: isOtherSession ? { session_id: order.session_id, date: order.date } : null,
    fillPath: trade.path ?? null,
  }
  if (isOtherSession) return { ...base, orderPath: order.path, reason: null, decision: null, before: [], cuts: [], reads: [], memories: [] }

  const callIndex = messages.findIndex(
    (message) =>
      message.role === 'tool' &&
      ORDER_TOOLS.has(message.tool_name ?? '') &&
      trade.order_id != null &&
      (order ? message.path === order.path : orderIdOf(message) === trade.order_id),
  )
  const call = messages[callIndex]
  if (call) {
    // A solo agent: the message before the call is the decision. An external agent states its decision at the end.
    const before = messages.slice(0, callIndex).findLast((message) => message.role === 'assistant' && message.content.trim() !== '')
    const decision = before ?? decisionOf(table, messages, null)
    const at = steps.findIndex((step) => step.path === call.path)
    const earlier = new Set(steps.slice(0, at < 0 ? steps.length : at).map((step) => step.path))
    return {
      ...base,
      orderPath: call.path,
      reason: argumentOf(call.tool_input, 'reason'),
      decision: decision ? { scope: placeOf(decision.path).scope, path: decision.path, name: placeOf(decision.path).name, text: decision.content } : null,
      before: [],
      cuts: [],
      reads: ofSymbol.filter((one) => earlier.has(one.path)),
      memories,
    }
  }

  const nth = sizing.orders.findIndex((order) => order.order_id === trade.order_id)
  const orderSteps = steps.filter((step) => step.kind === 'order' && phaseOf(table, step.path) === 'orders')
  return {
    ...base,
    orderPath: trade.order?.path ?? (trade.order_id == null || nth < 0 ? null : (orderSteps[nth]?.path ?? null)),
    reason: null,
    decision: trade.order_id == null ? null : decidingOf(table).flatMap((name) => lastOpinion(messages, symbol, name) ?? [])[0] ?? null,
    before: trade.order_id == null ? [] : table.upstream.flatMap((name) => lastOpinion(messages, symbol, name) ?? []),
    cuts: sizing.cuts.filter((cut) => cut.symbol === symbol),
    reads: ofSymbol,
    memories,
  }
}

/** Whether a read is about the instrument, or market-wide and made for this instrument or for all. */
function isAbout(one: Exposure, symbol: string): boolean {
  if (one.series.startsWith(`${symbol}/`)) return true
  const marketWide = one.series === 'news' || one.series.startsWith('news/') || one.series.startsWith('macro/') || one.series.startsWith('index/')
  const place = placeOf(one.path)
  return marketWide && (place.symbol === null || place.symbol === symbol)
}

export interface SeriesReads {
  series: string
  reads: number
  rows: number
  first: string | null
  last: string | null
  known: string | null
  paths: string[]
}

/** Groups reads by series. */
export function bySeries(exposures: Exposure[]): SeriesReads[] {
  const found = new Map<string, SeriesReads>()
  for (const one of exposures) {
    const known = found.get(one.series)
    const entry = known ?? { series: one.series, reads: 0, rows: 0, first: null, last: null, known: null, paths: [] }
    if (!known) found.set(one.series, entry)
    entry.reads += 1
    entry.rows = Math.max(entry.rows, one.rows)
    if (one.first_date && (!entry.first || one.first_date < entry.first)) entry.first = one.first_date
    if (one.last_date && (!entry.last || one.last_date > entry.last)) entry.last = one.last_date
    if (one.latest_known_at && (!entry.known || one.latest_known_at > entry.known)) entry.known = one.latest_known_at
    entry.paths.push(one.path)
  }
  return [...found.values()]
}
