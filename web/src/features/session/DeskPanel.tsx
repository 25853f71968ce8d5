import { useText } from '@/shared/i18n'
import { FoldPanel } from '@/shared/ui/fold'
import { DeskGraph } from './DeskGraph'
import type { Reading } from './useReading'

/** The desk as a graph. Nothing for a single conversation. */
export function DeskPanel({ reading: { desk, table, view, select } }: { reading: Reading }) {
  const t = useText()
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
    </>
  )
  return (
    <FoldPanel name="desk" title={t('desk.graph')} opens={opens} tools={tools}>
      <DeskGraph nodes={desk.ofSymbol} phases={table.phases} selected={desk.selected} onSelect={select} />
    </FoldPanel>
  )
}
