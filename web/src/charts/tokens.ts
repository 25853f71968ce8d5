// The colors and patterns of the agents' lines.
import type { Dash, LegendLine } from '@/shared/legend'

/** The colors `--series-1` to `--series-6`. */
const COLORS = 6
/** With more agents than colors, the colors repeat with the next pattern. */
const DASHES: Dash[] = ['solid', 'long', 'dotted']

/** The color and the pattern of an agent's line, by its place in the run. */
export function seriesStyle(index: number): Omit<LegendLine, 'label'> {
  return { token: `--series-${(index % COLORS) + 1}`, dash: DASHES[Math.floor(index / COLORS) % DASHES.length] ?? 'solid' }
}
