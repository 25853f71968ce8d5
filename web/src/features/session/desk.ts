// A session's nodes with their timing and state, computed from its steps. No React.
import type { Degradation, Message, Step } from '@/server/types'

export type Phase = 'analyst' | 'research' | 'trading' | 'risk' | 'portfolio' | 'book' | 'other'

export const PHASES: Phase[] = ['analyst', 'research', 'trading', 'risk', 'portfolio', 'book']

/** The roles of a desk, in the order of its graph. A test compares them with the program's own table. */
export const ROLES: [string, Phase][] = [
  ['Market Analyst', 'analyst'],
  ['Sentiment Analyst', 'analyst'],
  ['News Analyst', 'analyst'],
  ['Fundamentals Analyst', 'analyst'],
  ['Bull Researcher', 'research'],
  ['Bear Researcher', 'research'],
  ['Research Manager', 'research'],
  ['Trader', 'trading'],
  ['Aggressive Analyst', 'risk'],
  ['Conservative Analyst', 'risk'],
  ['Neutral Analyst', 'risk'],
  ['Portfolio Manager', 'portfolio'],
]

const PHASE_OF = new Map(ROLES)
const RANK = new Map(ROLES.map(([name], index) => [name, index]))
/** The role whose answer is the desk's decision. */
export const DECIDING_ROLE = 'Portfolio Manager'
/** The roles upstream of the decision, nearest first. */
export const UPSTREAM_ROLES = ROLES.map(([name]) => name).filter((name) => name !== DECIDING_ROLE).reverse()
/** Roles that use the deep model. */
export const DEEP_MODEL_ROLES = new Set(['Research Manager', 'Portfolio Manager'])

export interface Place {
  /** `AAPL/Trader#1`. */
  scope: string
  symbol: string | null
  name: string
  round: number
}

/** The node of a step: `AAPL/Trader#1/model#2` belongs to the Trader of AAPL, in its first round. */
export function placeOf(path: string): Place {
  const end = path.lastIndexOf('/')
  const scope = end < 0 ? path : path.slice(0, end)
  const cut = scope.indexOf('/')
  const symbol = cut < 0 ? null : scope.slice(0, cut)
  const own = scope.slice(cut + 1)
  const mark = own.lastIndexOf('#')
  return {
    scope,
    symbol,
    name: mark < 0 ? own : own.slice(0, mark),
    round: mark < 0 ? 1 : Number(own.slice(mark + 1)) || 1,
  }
}

export type NodeState = 'ok' | 'degraded' | 'running' | 'waiting'

export interface Call {
  path: string
  kind: string
  /** Milliseconds since the session's first call. */
  start: number
  end: number
  open: boolean
}

export interface Node extends Place {
  phase: Phase
  state: NodeState
  reason: string | null
  start: number | null
  end: number | null
  calls: Call[]
  inputTokens: number
  outputTokens: number
  attempts: number
  messages: number
}

const at = (text: string | null | undefined) => (text ? Date.parse(text) : Number.NaN)

function emptyNode(place: Place): Node {
  return {
    ...place,
    phase: PHASE_OF.get(place.name) ?? (BOOK_NODES.has(place.name) ? 'book' : 'other'),
    state: 'ok',
    reason: null,
    start: null,
    end: null,
    calls: [],
    inputTokens: 0,
    outputTokens: 0,
    attempts: 0,
    messages: 0,
  }
}

const BOOK_NODES = new Set(['pre', 'sizing', 'bar', 'close', 'post'])

/** All nodes of a session in graph order. Symbols are in the order of their first step. */
export function nodesOf(steps: Step[], messages: Message[], degradations: Degradation[], running: boolean, now?: number): Node[] {
  const nodes = new Map<string, Node>()
  const nodeAt = (path: string) => {
    const place = placeOf(path)
    let node = nodes.get(place.scope)
    if (!node) nodes.set(place.scope, (node = emptyNode(place)))
    return node
  }
  const own = steps.filter((step) => !step.detached && placeOf(step.path).name !== '')
  const calls = own.filter((step) => step.class === 'external' || step.class === 'guard')
  const zero = Math.min(...calls.map((step) => at(step.started_at)).filter(Number.isFinite))
  for (const step of own) {
    if (step.kind === 'node') continue
    const node = nodeAt(step.path)
    node.inputTokens += step.input_tokens
    node.outputTokens += step.output_tokens
    node.attempts += step.attempts
    if (step.class !== 'external') {
      if (step.class === 'guard') {
        node.state = 'degraded'
        node.reason ??= step.outcome ?? step.state
      }
      continue
    }
    const open = step.ended_at == null && running
    const start = at(step.started_at) - zero
    const since = open && now !== undefined ? Math.max(now, at(step.started_at)) : at(step.started_at)
    const end = (Number.isFinite(at(step.ended_at)) ? at(step.ended_at) : since) - zero
    node.calls.push({ path: step.path, kind: step.kind, start, end, open })
    node.start = Math.min(node.start ?? start, start)
    node.end = Math.max(node.end ?? end, end)
    if (open && node.state === 'ok') node.state = 'running'
  }
  for (const message of messages) nodeAt(message.path).messages += 1
  for (const degradation of degradations) {
    for (const node of nodes.values()) {
      const same = node.name === degradation.node && (degradation.symbol == null || node.symbol === degradation.symbol || node.symbol === null)
      if (!same) continue
      node.state = 'degraded'
      node.reason = degradation.reason
      // The node may have ended before its call did.
      if (node.start !== null && degradation.elapsed_ms != null) node.end = Math.max(node.end ?? 0, node.start + degradation.elapsed_ms)
    }
  }
  if (running) addWaiting(nodes)
  return [...nodes.values()].sort(
    (a, b) => rank(a) - rank(b) || a.round - b.round || (a.start ?? Infinity) - (b.start ?? Infinity),
  )
}

/** Adds the nodes of a running desk that have not started. */
function addWaiting(nodes: Map<string, Node>): void {
  const present = [...nodes.values()]
  const symbols = new Set(present.filter((node) => PHASE_OF.has(node.name)).map((node) => node.symbol))
  for (const symbol of symbols) {
    const begun = present.filter((node) => node.symbol === symbol)
    const researched = begun.some((node) => node.phase !== 'analyst' && PHASE_OF.has(node.name))
    for (const [name, phase] of ROLES) {
      if (begun.some((node) => node.name === name) || (phase === 'analyst' && researched)) continue
      const scope = symbol === null ? `${name}#1` : `${symbol}/${name}#1`
      nodes.set(scope, { ...emptyNode({ scope, symbol, name, round: 1 }), state: 'waiting' })
    }
  }
}

function rank(node: Node): number {
  const role = RANK.get(node.name)
  if (role === undefined) return { pre: -1, solo: 50, sizing: 60, bar: 61, close: 62, post: 63 }[node.name] ?? 55
  // Debaters take turns, round by round.
  return node.phase === 'research' && node.name !== 'Research Manager' ? 4 : node.phase === 'risk' ? 8 : role
}

export function isDesk(nodes: Node[]): boolean {
  return nodes.some((node) => PHASE_OF.has(node.name))
}

export function symbolsOf(nodes: Node[]): string[] {
  return [...new Set(nodes.flatMap((node) => (node.symbol === null ? [] : [node.symbol])))]
}

/** The duration of a phase in ms: the time during which at least one of its nodes ran. */
export function phaseTotal(nodes: Node[], phase: Phase): number {
  const spans = nodes
    .filter((node) => node.phase === phase && node.start !== null && node.end !== null)
    .map((node) => [node.start as number, node.end as number] as const)
    .sort((a, b) => a[0] - b[0])
  let total = 0
  let until = -Infinity
  for (const [start, end] of spans) {
    if (end <= until) continue
    total += end - Math.max(start, until)
    until = end
  }
  return total
}
