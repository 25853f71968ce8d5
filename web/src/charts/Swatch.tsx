import type { LegendLine } from '@/shared/legend'

/** A sample of a line: its color and its pattern. */
export function Swatch({ line: { token, dash } }: { line: Omit<LegendLine, 'label'> }) {
  return <span className={`legend-swatch ${dash}`} style={{ '--swatch': `var(${token})` }} />
}
