// The views of a session, as tabs.
import { useText } from '@/shared/i18n'
import { Segments, Tabs } from '@/shared/ui/parts'
import { Empty } from '@/shared/ui/states'
import { CallsView, modelCalls } from './CallsView'
import { ConversationView } from './ConversationView'
import { DataSeenView } from './DataSeenView'
import { DecisionView } from './DecisionView'
import { OrdersView } from './OrdersView'
import { ProvenanceView } from './ProvenanceView'
import { RecalledMemories } from './RecalledMemories'
import { TapeView } from './TapeView'
import { readers } from './readers'
import { type Reading, type View, VIEWS } from './useReading'

export function SessionViews({ reading }: { reading: Reading }) {
  const t = useText()
  const { day, conversation, steps, reads, memories, desk, table, view, go, search } = reading
  const counts: Record<View, number | null> = {
    decision: null,
    conversation: conversation.remaining > 0 && desk.selected === null && !desk.isDesk ? conversation.total : conversation.visible.length,
    calls: modelCalls(reading).length,
    orders: (day?.trades.length ?? 0) + (day?.rejections.length ?? 0),
    shown: readers(table, reads.ofNode).agent.length,
    memory: memories.count,
    provenance: null,
    tape: steps.ofNode.length,
  }
  return (
    <section className="panel session-detail" aria-label={desk.selected ?? t('session.whole')}>
      {/* A decision has its own choice of instruments, with their ratings. */}
      {desk.isDesk && desk.symbols.length > 1 && (view !== 'decision' || reading.session.status !== 'completed') && (
        <div className="panel-head">
          <Segments label={t('word.symbol')} value={desk.symbol ?? ''} onChange={(symbol) => go({ symbol, node: undefined, view: search.view ?? (reading.view === 'conversation' ? 'conversation' : undefined) })} choices={desk.symbols.map((value) => ({ value, label: value }))} />
          {desk.selected && (
            <button type="button" className="button small" onClick={() => go({ node: undefined, view: reading.view })}>
              {t('desk.all')}
            </button>
          )}
        </div>
      )}
      <Tabs<View> label={t('session.views')} value={view} onChange={(value) => go({ view: value })} choices={VIEWS.map((value) => ({ value, label: t(`reading.view.${value}`), count: counts[value] }))}>
        <Selected reading={reading} />
      </Tabs>
    </section>
  )
}

function Selected({ reading }: { reading: Reading }) {
  const t = useText()
  const { job, session, day, steps, reads, memories, desk, table, search, goTo, toMemory, market, zone, dataset } = reading
  switch (reading.view) {
    case 'decision':
      return <DecisionView reading={reading} />
    case 'conversation':
      return <ConversationView reading={reading} />
    case 'calls':
      return <CallsView key={desk.selected ?? ''} reading={reading} />
    case 'orders':
      if (!day) return <Empty title={t('session.open')} />
      return <OrdersView session={session} day={day} market={market} open={search.order} dataset={dataset?.hash ?? ''} zone={zone} onGo={goTo} onMemory={toMemory} />
    case 'shown':
      return <DataSeenView table={table} reads={reads.ofNode} pending={reads.isPending} error={reads.error} dataset={dataset} zone={zone} onGo={goTo} />
    case 'memory':
      return <RecalledMemories recalled={memories.data} error={memories.error} session={session} zone={zone} item={search.item} onGo={goTo} />
    case 'provenance':
      return <ProvenanceView job={job} session={session} day={day} symbol={desk.isDesk ? desk.symbol : null} />
    case 'tape':
      return <TapeView key={desk.selected ?? ''} steps={steps.ofNode} pending={steps.isPending} error={steps.error} at={search.at} />
  }
}
