// The lines that a chart's legend names, and where an image writes them.

/** The pattern of a line. Reference lines (baselines, benchmarks) are `dashed`; agents have the others. */
export type Dash = 'solid' | 'long' | 'dotted' | 'dashed'

export interface LegendLine {
  label: string
  /** The CSS variable of its color. */
  token: string
  dash: Dash
}

/** Lengths of strokes and gaps in an image, in pixels. */
export const DASH_LENGTHS: Record<Dash, number[]> = { solid: [], long: [10, 4], dotted: [2, 2], dashed: [5, 3] }

/** The length of a line's sample, and the distances after it and after its label. */
export const SAMPLE = 24
const GAP = 7
const SPACE = 18

export interface PlacedLine extends LegendLine {
  x: number
  row: number
  labelX: number
  labelWidth: number
}

/** Places the lines side by side, in as many rows as they need. A label is at most as wide as a row. */
export function layoutLegend(lines: readonly LegendLine[], measure: (label: string) => number, width: number): PlacedLine[] {
  let x = 0
  let row = 0
  return lines.map((line) => {
    const labelWidth = Math.min(measure(line.label), width - SAMPLE - GAP)
    const end = SAMPLE + GAP + labelWidth
    if (x > 0 && x + end > width) {
      x = 0
      row += 1
    }
    const placed = { ...line, x, row, labelX: x + SAMPLE + GAP, labelWidth }
    x += end + SPACE
    return placed
  })
}
