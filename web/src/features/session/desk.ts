// A session's nodes with their timing and state, computed from its steps. No React.
import { deskPhases } from '@/server/nodes'
import type { Degradation, Message, NodeRule, Step } from '@/server/types'

/** The nodes that sessions have, as the server lists them. */
export interface NodeTable {
  of: (name: string) => NodeRule | undefined
  /** A desk's roles, in the order of its graph. */
  roles: NodeRule[]
  /** The role whose last response is a desk's decision. */
  decider: NodeRule | undefined
  /** The phases of a desk's graph, in order: those of its roles, then its orders. */
  phases: string[]
}

export function nodeTable(rules: NodeRule[]): NodeTable {
  const byName = new Map(rules.map((rule) => [rule.name, rule]))
  const roles = rules.filter((rule) => rule.llm != null)
  return {
    of: (name) => byName.get(name),
    roles,
    decider: roles.find((role) => role.decides),
    phases: [...deskPhases(rules), 'orders'],
  }
}

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

/** The node of a single agent's conversation among these: the one that decides and is not a role of a desk. */
export function singleScope(table: NodeTable, scopes: string[]): string | null {
  const isSingle = (scope: string) => {
    const rule = table.of(placeOf(`${scope}/x`).name)
    return rule?.decides === true && rule.llm == null
  }
  return scopes.find(isSingle) ?? null
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
  /** As in the table; `null` for a node that is not in it. */
  phase: string | null
  /** Its place in the graph. */
  order: number
  /** Of a desk's role: its model. */
  llm: string | null
  /** Whether its last response is the agent's decision. */
  decides: boolean
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

function emptyNode(place: Place, table: NodeTable): Node {
  const rule = table.of(place.name)
  return {
    ...place,
    phase: rule?.phase ?? null,
    // A node of another version comes after the roles.
    order: rule?.order ?? (table.roles[table.roles.length - 1]?.order ?? 0) + 0.5,
    llm: rule?.llm ?? null,
    decides: rule?.decides ?? false,
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

/** All nodes of a session in graph order. Symbols are in the order of their first step. */
export function nodesOf(table: NodeTable, steps: Step[], messages: Message[], degradations: Degradation[], running: boolean, now?: number): Node[] {
  const nodes = new Map<string, Node>()
  const nodeAt = (path: string) => {
    const place = placeOf(path)
    let node = nodes.get(place.scope)
    if (!node) nodes.set(place.scope, (node = emptyNode(place, table)))
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
  if (running) addWaiting(nodes, table)
  return [...nodes.values()].sort(
    (a, b) => a.order - b.order || a.round - b.round || (a.start ?? Infinity) - (b.start ?? Infinity),
  )
}

/** Adds the nodes of a running desk that have not started. */
function addWaiting(nodes: Map<string, Node>, table: NodeTable): void {
  const present = [...nodes.values()]
  const symbols = new Set(present.filter(isRole).map((node) => node.symbol))
  for (const symbol of symbols) {
    const begun = present.filter((node) => node.symbol === symbol)
    const researched = begun.some((node) => node.phase !== 'analyst' && isRole(node))
    for (const { name, phase } of table.roles) {
      if (begun.some((node) => node.name === name) || (phase === 'analyst' && researched)) continue
      const scope = symbol === null ? `${name}#1` : `${symbol}/${name}#1`
      nodes.set(scope, { ...emptyNode({ scope, symbol, name, round: 1 }, table), state: 'waiting' })
    }
  }
}

function isRole(node: Node): boolean {
  return node.llm !== null
}

export function isDesk(nodes: Node[]): boolean {
  return nodes.some(isRole)
}

export function symbolsOf(nodes: Node[]): string[] {
  return [...new Set(nodes.flatMap((node) => (node.symbol === null ? [] : [node.symbol])))]
}

/** The duration of a phase in ms: the time during which at least one of its nodes ran. */
export function phaseTotal(nodes: Node[], phase: string): number {
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
