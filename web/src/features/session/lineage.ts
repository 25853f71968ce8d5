// From a fill back to where it came from: pure.
import type { DayResult, Exposure, GivenMemory, Message, Session, Sizing, Step, Trade } from '@/server/types'
import { placeOf } from './desk'

const ORDER_TOOLS = new Set(['buy', 'sell', 'short', 'cover'])

export interface Link {
  /** The node whose work it is. */
  scope: string
  path: string
  name: string
  /** Its last words. */
  text: string
}

export interface Lineage {
  /** The session in which the order was given, where it is an earlier one. */
  elsewhere: { session_id: number; date: string } | null
  /** The step that booked the fill. */
  fillPath: string | null
  /** The step of the order; `null`: the books did it themselves, or it is not told. */
  orderPath: string | null
  /** What the agent gave as its reason with the order. */
  reason: string | null
  decision: Link | null
  /** Those whose work led to the decision, the nearest first. */
  before: Link[]
  cuts: NonNullable<Sizing['cuts']>
  shown: Exposure[]
  /** What stood in the prompts, with the step that told it. */
  memories: (GivenMemory['items'][number] & { path: string })[]
}

/** The nodes that lead to a decision, the nearest first. */
const LEADING = [
  'Neutral Analyst',
  'Conservative Analyst',
  'Aggressive Analyst',
  'Trader',
  'Research Manager',
  'Bear Researcher',
  'Bull Researcher',
  'Fundamentals Analyst',
  'News Analyst',
  'Sentiment Analyst',
  'Market Analyst',
]

function lastWords(messages: Message[], symbol: string, name: string): Link | null {
  const own = messages.filter((message) => {
    const place = placeOf(message.path)
    return message.role === 'assistant' && message.content !== '' && place.name === name && (place.symbol === symbol || place.symbol === null)
  })
  const last = own[own.length - 1]
  return last ? { scope: placeOf(last.path).scope, path: last.path, name, text: last.content } : null
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
  trade: Pick<Trade, 'order_id' | 'symbol'> & Partial<Pick<Trade, 'order' | 'path'>>,
  session: Session,
  day: DayResult | null,
  steps: Step[],
  exposures: Exposure[],
  given: GivenMemory[],
): Lineage {
  const messages = session.conversation ?? []
  const symbol = trade.symbol
  const sizing = (day?.metadata.sizing ?? {}) as Sizing
  const memories = given
    .filter((one) => placeOf(one.path).symbol === symbol || placeOf(one.path).symbol === null)
    .flatMap((one) => one.items.map((item) => ({ ...item, path: one.path })))
  const ofSymbol = exposures.filter((one) => concerns(one, symbol) && !isBooks(one.path))

  const order = trade.order
  const away = order != null && order.session_id !== session.session_id
  const told = {
    elsewhere: away ? { session_id: order.session_id, date: order.date } : null,
    fillPath: trade.path ?? null,
  }
  if (away) return { ...told, orderPath: order.path, reason: null, decision: null, before: [], cuts: [], shown: [], memories: [] }

  const asked = messages.findIndex(
    (message) =>
      message.role === 'tool' &&
      ORDER_TOOLS.has(message.tool_name ?? '') &&
      trade.order_id != null &&
      (order ? message.path === order.path : orderIdOf(message) === trade.order_id),
  )
  const call = messages[asked]
  if (call) {
    // One conversation: the words just before the call are the decision.
    const said = messages.slice(0, asked).reverse().find((message) => message.role === 'assistant' && message.content.trim() !== '')
    const reason = (call.tool_input as { reason?: unknown } | null)?.reason
    const at = steps.findIndex((step) => step.path === call.path)
    const earlier = new Set(steps.slice(0, at < 0 ? steps.length : at).map((step) => step.path))
    return {
      ...told,
      orderPath: call.path,
      reason: typeof reason === 'string' ? reason : null,
      decision: said ? { scope: placeOf(said.path).scope, path: said.path, name: placeOf(said.path).name, text: said.content } : null,
      before: [],
      cuts: [],
      shown: ofSymbol.filter((one) => earlier.has(one.path)),
      memories,
    }
  }

  const orders = sizing.orders ?? []
  const nth = orders.findIndex((order) => order.order_id === trade.order_id)
  const orderSteps = steps.filter((step) => step.kind === 'order' && placeOf(step.path).name === 'sizing')
  return {
    ...told,
    orderPath: trade.order?.path ?? (trade.order_id == null || nth < 0 ? null : (orderSteps[nth]?.path ?? null)),
    reason: null,
    decision: trade.order_id == null ? null : lastWords(messages, symbol, 'Portfolio Manager'),
    before: trade.order_id == null ? [] : LEADING.flatMap((name) => lastWords(messages, symbol, name) ?? []),
    cuts: (sizing.cuts ?? []).filter((cut) => cut.symbol === symbol),
    shown: ofSymbol,
    memories,
  }
}

/** Of the instrument, or of the market as a whole, where its own desk or everybody was shown it. */
function concerns(one: Exposure, symbol: string): boolean {
  if (one.series.startsWith(`${symbol}/`)) return true
  const whole = one.series === 'news' || one.series.startsWith('news/') || one.series.startsWith('macro/') || one.series.startsWith('index/')
  const place = placeOf(one.path)
  return whole && (place.symbol === null || place.symbol === symbol)
}

function isBooks(path: string): boolean {
  return /^(pre|bar|close)#/.test(path)
}

export interface Shown {
  series: string
  reads: number
  rows: number
  first: string | null
  last: string | null
  known: string | null
  paths: string[]
}

/** Reads of the same series, put together. */
export function bySeries(exposures: Exposure[]): Shown[] {
  const found = new Map<string, Shown>()
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
