// One agent on one day: conversation, orders, data, memories, provenance and tape.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo } from 'react'
import { isTyping } from '@/shared/keys'
import { useNow } from '@/shared/now'
import { useLiveJob } from '@/server/live'
import { dataset as datasetQuery, dayResult, exposures as exposuresQuery, job as jobQuery, dayStatus, session as sessionQuery, sessionMemory, steps as stepsQuery, conversation as conversationQuery } from '@/server/queries'
import { type DayResult, type Degradation, type Exposure, type RecalledItem, type RecalledBlock, hasStopped, type Instructions as NodeInstructions, type Job, type Message, type Session, type Status, type Step } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useReasons } from '@/shared/i18n/codes'
import { Segments, Tabs } from '@/shared/ui/parts'
import { Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { isMissing } from '@/shared/missing'
import { Transcript } from '@/transcript/Transcript'
import { isDesk, type Node, nodesOf, placeOf, symbolsOf } from './desk'
import { DeskGraph } from './DeskGraph'
import { Instructions } from './Instructions'
import { RecalledMemories, nameOfMemory } from './RecalledMemories'
import { OrdersView } from './OrdersView'
import { ProvenanceView } from './ProvenanceView'
import { SessionHead } from './SessionHead'
import { DataSeenView } from './DataSeenView'
import { TapeView } from './TapeView'
import { Waterfall } from './Waterfall'

type View = 'conversation' | 'orders' | 'shown' | 'memory' | 'provenance' | 'tape'
const VIEWS: View[] = ['conversation', 'orders', 'shown', 'memory', 'provenance', 'tape']
const NO_STEPS: Step[] = []
const NO_EXPOSURES: Exposure[] = []
const NO_MEMORIES: RecalledBlock[] = []
const NO_MESSAGES: Message[] = []
const NO_INSTRUCTIONS: NodeInstructions[] = []

export function SessionPage() {
  const t = useText()
  const { jobId, date, model } = useParams({ from: '/app/runs/$jobId/$date/$model' })
  const job = useQuery(jobQuery(jobId))
  const running = job.data !== undefined && !hasStopped(job.data.status)
  const connection = useLiveJob(jobId, running)
  const status = useQuery(dayStatus(jobId, date, model))
  const session = useQuery(sessionQuery(jobId, date, model))
  const day = useQuery(dayResult(jobId, date, model))

  if (job.isPending || session.isPending || status.isPending || day.isPending) {
    return (
      <div className="page">
        <Loading rows={12} />
      </div>
    )
  }
  if (isMissing(job.error)) {
    return (
      <div className="page">
        <Empty title={t('run.missing')}>
          <Link to="/app/runs">{t('run.missing.all')}</Link>
        </Empty>
      </div>
    )
  }
  const error = job.error ?? session.error ?? status.error ?? day.error
  if (!job.data || !status.data || (error && !session.data)) {
    const retry = () => void Promise.all([job.refetch(), session.refetch(), status.refetch(), day.refetch()])
    return (
      <div className="page">
        <Failed error={error} retry={retry} />
      </div>
    )
  }
  return (
    <div className="page">
      <SessionHead job={job.data} status={status.data} date={date} model={model} session={session.data ?? null} day={day.data ?? null} connection={connection} />
      {session.data ? (
        <Body key={session.data.session_id} job={job.data} head={session.data} day={day.data ?? null} />
      ) : (
        <NotStarted status={status.data} date={date} model={model} />
      )}
    </div>
  )
}

function NotStarted({ status, date, model }: { status: Status; date: string; model: string }) {
  const t = useText()
  const format = useFormat()
  const detail = status.details.find((one) => one.date === date && one.model === model)
  if (!detail) return <Empty title={t('session.no.day', { date: format.day(date) })} />
  return (
    <Empty title={detail.status === 'skipped' ? t('session.skipped') : t('session.not.begun')}>
      <p className="second">{detail.error ?? (detail.status === 'skipped' ? t('session.skipped.why') : t('session.not.begun.why'))}</p>
    </Empty>
  )
}

interface BodyProps {
  job: Job
  head: Session
  day: DayResult | null
}

function Body({ job, head, day }: BodyProps) {
  const t = useText()
  const navigate = useNavigate({ from: '/app/runs/$jobId/$date/$model' })
  const search = useSearch({ from: '/app/runs/$jobId/$date/$model' })
  const conversation = useQuery(conversationQuery(job.job_id, head.session_id))
  const messages = conversation.data?.messages ?? NO_MESSAGES
  const instructions = conversation.data?.instructions ?? NO_INSTRUCTIONS
  const session = useMemo<Session>(() => ({ ...head, conversation: messages, instructions }), [head, messages, instructions])
  const remaining = conversation.data ? conversation.data.total - messages.length : 0
  const steps = useQuery(stepsQuery(job.job_id, session.session_id))
  const reads = useQuery(exposuresQuery(job.job_id, session.session_id))
  const recalled = useQuery(sessionMemory(job.job_id, session.session_id))
  const data = useQuery(datasetQuery(job.simulation?.dataset.hash ?? ''))
  const zone = data.data?.zone ?? null
  const running = session.status === 'running' && !hasStopped(job.status)
  const degradations = (day?.provenance.degradations ?? []) as unknown as Degradation[]
  // An open call lasts until now.
  const now = useNow(running ? 1000 : 3_600_000)
  const until = running ? now : 0
  const nodes = useMemo(
    () => nodesOf(steps.data ?? NO_STEPS, messages, (day?.provenance.degradations ?? []) as unknown as Degradation[], running, until),
    [steps.data, messages, day?.provenance.degradations, running, until],
  )
  const desk = isDesk(nodes)
  const symbols = symbolsOf(nodes)
  const symbol = search.symbol !== undefined && symbols.includes(search.symbol) ? search.symbol : (symbols[0] ?? null)
  const ofSymbol = useMemo(() => nodes.filter((node) => node.symbol === symbol || node.symbol === null), [nodes, symbol])
  const selected = search.node === undefined ? null : (placeOf(`${search.node}/x`).scope ?? null)
  const view = VIEWS.find((one) => one === search.view) ?? 'conversation'
  const go = (part: Partial<Record<'node' | 'view' | 'symbol' | 'at' | 'item', string | undefined>>) =>
    void navigate({ search: (now) => ({ ...now, at: undefined, item: undefined, ...part }), replace: true, resetScroll: false })
  const select = (scope: string | null) => go({ node: scope ?? undefined })
  /** Opens a step: its message or, without one, its row on the tape. Adds a history entry. */
  const goTo = (path: string) => {
    const place = placeOf(path)
    const hasMessage = messages.some((message) => message.path === path)
    const part = { node: place.scope, view: hasMessage ? undefined : 'tape', symbol: place.symbol ?? search.symbol, at: path, item: undefined }
    void navigate({ search: (now) => ({ ...now, ...part }), resetScroll: false })
  }
  const toMemory = (memory: Pick<RecalledItem, 'memory_type' | 'memory_id'> & { path: string }) => {
    const place = placeOf(memory.path)
    const part = { view: 'memory', symbol: place.symbol ?? search.symbol, item: nameOfMemory(memory), at: undefined }
    void navigate({ search: (now) => ({ ...now, ...part }), resetScroll: false })
  }
  const at = search.at
  const atIndex = at !== undefined && /^\d+$/.test(at) ? Number(at) : null
  useNodeKeys(ofSymbol, selected, select)

  const inNode = (path: string) => selected === null || placeOf(path).scope === selected
  const visible = useMemo(() => {
    if (selected !== null) return messages.filter((message) => placeOf(message.path).scope === selected)
    if (!desk) return messages
    return messages.filter((message) => placeOf(message.path).symbol === symbol || placeOf(message.path).symbol === null)
  }, [messages, selected, desk, symbol])
  const nodeReads = (reads.data ?? NO_EXPOSURES).filter((one) => inNode(one.path))
  const tape = (steps.data ?? NO_STEPS).filter((one) => inNode(one.path))
  const orders = (day?.trades.length ?? 0) + (day?.rejections.length ?? 0)
  const memoryCount = (recalled.data ?? NO_MEMORIES).reduce((sum, one) => sum + one.items.length, 0)

  return (
    <>
      {day?.metadata.error && (
        <Note kind="bad" title={t('session.failed')}>
          {day.metadata.error}
        </Note>
      )}
      {degradations.length > 0 && (
        <Degraded
          degradations={degradations}
          onGo={(node) => {
            const found = nodes.find((one) => one.name === node.node && (node.symbol == null || one.symbol === node.symbol))
            go({ node: found?.scope, symbol: node.symbol ?? search.symbol })
          }}
        />
      )}
      {desk && (
        <section className="panel" aria-label={t('desk.graph')}>
          <div className="panel-head">
            <h2>{t('desk.graph')}</h2>
            {symbols.length > 1 && <Segments label={t('word.symbol')} value={symbol ?? ''} onChange={(value) => go({ symbol: value, node: undefined })} choices={symbols.map((value) => ({ value, label: value }))} />}
            <span className="quiet grow">{t('desk.hint')}</span>
            {selected && (
              <button type="button" className="button small" onClick={() => select(null)}>
                {t('desk.all')}
              </button>
            )}
          </div>
          <DeskGraph nodes={ofSymbol} selected={selected} onSelect={select} />
        </section>
      )}
      <div className="session-columns">
        <section className="panel session-time" aria-label={t('waterfall.label')}>
          <div className="panel-head">
            <h2>{t('waterfall.label')}</h2>
          </div>
          {steps.isPending ? <Loading rows={6} /> : steps.error && !steps.data ? <Failed error={steps.error} /> : <Waterfall nodes={ofSymbol} selected={selected} onSelect={select} byCall={!desk} />}
        </section>
        <section className="panel session-detail" aria-label={selected ?? t('session.whole')}>
          <Tabs<View>
            label={t('session.views')}
            value={view}
            onChange={(value) => go({ view: value === 'conversation' ? undefined : value })}
            choices={[
              { value: 'conversation', label: t('session.talk'), count: remaining > 0 && visible.length === messages.length ? conversation.data?.total : visible.length },
              { value: 'orders', label: t('session.orders'), count: orders },
              { value: 'shown', label: t('session.shown'), count: nodeReads.length },
              { value: 'memory', label: t('session.memory'), count: memoryCount },
              { value: 'provenance', label: t('session.provenance') },
              { value: 'tape', label: t('session.tape'), count: tape.length },
            ]}
          >
            {view === 'conversation' && (
              <>
                <Instructions instructions={instructions} node={selected ?? (desk ? null : 'solo#1')} />
                {conversation.isPending ? (
                  <Loading rows={8} />
                ) : conversation.error && messages.length === 0 ? (
                  <Failed error={conversation.error} retry={() => void conversation.refetch()} />
                ) : visible.length === 0 && remaining === 0 ? (
                  <Empty title={selected ? t('node.silent') : t('session.silent')} />
                ) : (
                  <Transcript key={selected ?? ''} messages={visible} remaining={remaining} error={conversation.error} onRetry={() => void conversation.refetch()} showsNodes={desk && selected === null} follows={running && at === undefined} focusPath={at} focusIndex={atIndex} onPath={(path) => select(placeOf(path).scope)} />
                )}
              </>
            )}
            {view === 'orders' &&
              (day ? (
                <OrdersView session={session} day={day} steps={steps.data ?? NO_STEPS} exposures={reads.data ?? NO_EXPOSURES} recalled={recalled.data ?? NO_MEMORIES} market={job.simulation?.market ?? null} open={search.order} dataset={job.simulation?.dataset.hash ?? ''} zone={zone} onGo={goTo} onMemory={toMemory} />
              ) : (
                <Empty title={t('session.open')} />
              ))}
            {view === 'shown' && <DataSeenView reads={nodeReads} pending={reads.isPending} error={reads.error} dataset={job.simulation?.dataset ?? null} zone={zone} onGo={goTo} />}
            {view === 'memory' && <RecalledMemories recalled={recalled.data} error={recalled.error} session={session} zone={zone} item={search.item} onGo={goTo} />}
            {view === 'provenance' && <ProvenanceView job={job} session={session} day={day} symbol={desk ? symbol : null} />}
            {view === 'tape' && <TapeView key={selected ?? ''} steps={tape} pending={steps.isPending} error={steps.error} at={at} />}
          </Tabs>
        </section>
      </div>
    </>
  )
}

/** The degraded nodes of this day, with links. */
function Degraded({ degradations, onGo }: { degradations: Degradation[]; onGo: (degradation: Degradation) => void }) {
  const t = useText()
  const word = useWord()
  const reasons = useReasons()
  return (
    <Note kind="warn" title={t('session.degraded')}>
      <p>{t('session.degraded.why')}</p>
      <div className="row wrap">
        {degradations.map((one, index) => (
          <button key={index} type="button" className="button small" title={one.reason} onClick={() => onGo(one)}>
            {one.symbol ? `${one.symbol} · ` : ''}
            {word('node', one.node)}: {reasons.why(one.reason)}
          </button>
        ))}
      </div>
    </Note>
  )
}

/** `j` and `k` select the next and previous node. */
function useNodeKeys(nodes: Node[], selected: string | null, select: (scope: string | null) => void): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (isTyping(event) || (event.key !== 'j' && event.key !== 'k')) return
      const at = nodes.findIndex((node) => node.scope === selected)
      const to = event.key === 'j' ? at + 1 : at < 0 ? nodes.length - 1 : at - 1
      select(nodes[to]?.scope ?? null)
    }
    window.addEventListener('keydown', pressed)
    return () => window.removeEventListener('keydown', pressed)
  })
}
