import { useText } from '@/shared/i18n'
import { FoldPanel } from '@/shared/ui/fold'
import { Failed, Loading } from '@/shared/ui/states'
import type { Reading } from './useReading'
import { Waterfall } from './Waterfall'

/** The timing of each node, or of each call. */
export function TimePanel({ reading: { desk, steps, select } }: { reading: Reading }) {
  const t = useText()
  return (
    <FoldPanel name="times" title={t('waterfall.label')} opens={false}>
      {steps.isPending ? <Loading rows={6} /> : steps.error && steps.all.length === 0 ? <Failed error={steps.error} /> : <Waterfall nodes={desk.ofSymbol} selected={desk.selected} onSelect={select} byCall={!desk.isDesk} />}
    </FoldPanel>
  )
}
