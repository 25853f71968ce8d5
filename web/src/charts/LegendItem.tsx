// A line in a chart's legend: its sample, its name and its value. A click hides it.
import { signClass } from '@/shared/format'
import { useText } from '@/shared/i18n'
import type { LegendLine } from '@/shared/legend'
import { Swatch } from './Swatch'

interface Props {
  line: LegendLine & { isReference?: boolean }
  value: number | null
  display: (value: number | null) => string
  isHidden: boolean
  onToggle: () => void
}

export function LegendItem({ line, value, display, isHidden, onToggle }: Props) {
  const t = useText()
  return (
    <button type="button" className="legend-item" aria-pressed={!isHidden} title={t('run.show.line', { line: line.label })} onClick={onToggle}>
      <Swatch line={line} />
      <span className={line.isReference ? 'clip second' : 'clip'}>{line.label}</span>
      <b className={signClass(value)}>{display(value)}</b>
    </button>
  )
}
