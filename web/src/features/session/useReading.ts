// Everything that the parts of the session page show, and what is selected in the address.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import { dataset as datasetQuery } from '@/server/queries'
import { conversation as conversationQuery, exposures as exposuresQuery, sessionMemory, steps as stepsQuery } from '@/server/sessions'
import { degradationsOf } from '@/server/recorded'
import { type DayResult, type Exposure, hasStopped, type Instructions, type Job, type Message, type NodeRule, type RecalledBlock, type RecalledItem, type Session, type Step } from '@/server/types'
import { useNow } from '@/shared/now'
import { isDesk, nodesOf, nodeTable, placeOf, symbolsOf } from './desk'
import { nameOfMemory } from './RecalledMemories'
import { useNodeKeys } from './useNodeKeys'

export const VIEWS = ['decision', 'conversation', 'calls', 'orders', 'shown', 'memory', 'provenance', 'tape'] as const
export type View = (typeof VIEWS)[number]

const NO_STEPS: Step[] = []
const NO_EXPOSURES: Exposure[] = []
const NO_MEMORIES: RecalledBlock[] = []
const NO_MESSAGES: Message[] = []
const NO_INSTRUCTIONS: Instructions[] = []

interface Search {
  symbol?: string | undefined
  node?: string | undefined
  view?: string | undefined
  order?: string | undefined
  at?: string | undefined
  item?: string | undefined
}

/** The view of an address: a link to a node or a message opens the conversation, any other the decision. */
export function viewOf(search: Search): View {
  const named = VIEWS.find((one) => one === search.view)
  if (named) return named
  return search.node !== undefined || search.at !== undefined ? 'conversation' : 'decision'
}

export type Reading = ReturnType<typeof useReading>

export function useReading(job: Job, head: Session, day: DayResult | null, rules: NodeRule[]) {
  const navigate = useNavigate({ from: '/app/runs/$jobId/$date/$model' })
  const search = useSearch({ from: '/app/runs/$jobId/$date/$model' })
  const conversation = useQuery(conversationQuery(job.job_id, head.session_id))
  const stepsResult = useQuery(stepsQuery(job.job_id, head.session_id))
  const readsResult = useQuery(exposuresQuery(job.job_id, head.session_id))
  const recalled = useQuery(sessionMemory(job.job_id, head.session_id))
  const data = useQuery(datasetQuery(job.simulation?.dataset.hash ?? ''))

  const messages = conversation.data?.messages ?? NO_MESSAGES
  const instructions = conversation.data?.instructions ?? NO_INSTRUCTIONS
  const session = useMemo<Session>(() => ({ ...head, conversation: messages, instructions }), [head, messages, instructions])
  const steps = stepsResult.data ?? NO_STEPS
  const reads = readsResult.data ?? NO_EXPOSURES
  const memories = recalled.data ?? NO_MEMORIES
  const degradations = useMemo(() => degradationsOf(day), [day])
  const running = session.status === 'running' && !hasStopped(job.status)
  // An open call lasts until now.
  const now = useNow(running ? 1000 : 3_600_000)
  const until = running ? now : 0
  const table = useMemo(() => nodeTable(rules), [rules])
  const nodes = useMemo(() => nodesOf(table, steps, messages, degradations, running, until), [table, steps, messages, degradations, running, until])
  const desk = isDesk(nodes)
  const symbols = symbolsOf(nodes)
  const symbol = search.symbol !== undefined && symbols.includes(search.symbol) ? search.symbol : (symbols[0] ?? null)
  const ofSymbol = useMemo(() => nodes.filter((node) => node.symbol === symbol || node.symbol === null), [nodes, symbol])
  const selected = search.node === undefined ? null : placeOf(`${search.node}/x`).scope

  const go = (part: Search) => void navigate({ search: (before) => ({ ...before, at: undefined, item: undefined, ...part }), replace: true, resetScroll: false })
  const select = (scope: string | null) => go({ node: scope ?? undefined, view: scope !== null && viewOf(search) === 'decision' ? undefined : search.view })
  useNodeKeys(ofSymbol, selected, select)

  const visible = useMemo(() => {
    if (selected !== null) return messages.filter((message) => placeOf(message.path).scope === selected)
    if (!desk) return messages
    return messages.filter((message) => placeOf(message.path).symbol === symbol || placeOf(message.path).symbol === null)
  }, [messages, selected, desk, symbol])
  const inNode = (path: string) => selected === null || placeOf(path).scope === selected

  return {
    job,
    session,
    day,
    table,
    zone: data.data?.zone ?? null,
    dataset: job.simulation?.dataset ?? null,
    market: job.simulation?.market ?? null,
    running,
    degradations,
    conversation: {
      /** The messages of the selected node or instrument. */
      visible,
      instructions,
      total: conversation.data?.total ?? 0,
      remaining: conversation.data ? conversation.data.total - messages.length : 0,
      isPending: conversation.isPending,
      error: conversation.error,
      retry: () => void conversation.refetch(),
    },
    steps: { all: steps, ofNode: steps.filter((step) => inNode(step.path)), isPending: stepsResult.isPending, error: stepsResult.error },
    reads: { all: reads, ofNode: reads.filter((read) => inNode(read.path)), isPending: readsResult.isPending, error: readsResult.error },
    memories: { all: memories, data: recalled.data, error: recalled.error, count: memories.reduce((sum, block) => sum + block.items.length, 0) },
    desk: { isDesk: desk, nodes, ofSymbol, symbols, symbol, selected },
    search,
    view: viewOf(search),
    go,
    select,
    /** Opens a step: its message or, without one, its row on the tape. Adds a history entry. */
    goTo: (path: string) => {
      const place = placeOf(path)
      const view: View = messages.some((message) => message.path === path) ? 'conversation' : 'tape'
      const part = { node: place.scope, view, symbol: place.symbol ?? search.symbol, at: path, item: undefined }
      void navigate({ search: (before) => ({ ...before, ...part }), resetScroll: false })
    },
    toMemory: (memory: Pick<RecalledItem, 'memory_type' | 'memory_id'> & { path: string }) => {
      const place = placeOf(memory.path)
      const part = { view: 'memory', symbol: place.symbol ?? search.symbol, item: nameOfMemory(memory), at: undefined }
      void navigate({ search: (before) => ({ ...before, ...part }), resetScroll: false })
    },
  }
}
