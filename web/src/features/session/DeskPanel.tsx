import { useRef } from 'react'
import type { TableData } from '@/shared/csv'
import { fileName } from '@/shared/fileName'
import { useText } from '@/shared/i18n'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { FoldPanel } from '@/shared/ui/fold'
import type { Node } from './desk'
import { DeskGraph } from './DeskGraph'
import type { Reading } from './useReading'

/** The desk as a graph. Nothing for a single conversation. */
export function DeskPanel({ reading: { desk, table, view, select } }: { reading: Reading }) {
  const t = useText()
  const box = useRef<HTMLDivElement>(null)
  // The decision comes first, and a graph would fill the screen of a phone.
  const opens = view !== 'decision' && !window.matchMedia('(max-width: 860px)').matches
  if (!desk.isDesk) return null
  const tools = (
    <>
      <span className="quiet grow">{t('desk.hint')}</span>
      {desk.selected && (
        <button type="button" className="button small" onClick={() => select(null)}>
          {t('desk.all')}
        </button>
      )}
      <ExportMenu what={t('desk.graph')} name={fileName('desk', desk.symbol)} csv={() => fileOf(desk.ofSymbol)} image={() => box.current} />
    </>
  )
  return (
    <FoldPanel name="desk" title={t('desk.graph')} opens={opens} tools={tools}>
      <DeskGraph nodes={desk.ofSymbol} phases={table.phases} selected={desk.selected} onSelect={select} box={box} />
    </FoldPanel>
  )
}

/** A row for each node of the graph. */
function fileOf(nodes: Node[]): TableData {
  return {
    columns: ['phase', 'symbol', 'node', 'round', 'state', 'reason', 'start_ms', 'end_ms', 'input_tokens', 'output_tokens', 'attempts'],
    rows: nodes.flatMap((node) => (node.phase === null ? [] : [[node.phase, node.symbol, node.name, node.round, node.state, node.reason, node.start, node.end, node.inputTokens, node.outputTokens, node.attempts]])),
  }
}
