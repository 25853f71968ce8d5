// Bins of a histogram.

export interface Bin {
  from: number
  to: number
  count: number
  /** Those that are exactly zero: days without a position. */
  zeros: number
}

/** The widths that a bin may have, times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10]
const MAX_BINS = 60

/**
 * Counts values in bins of equal, round width, by the rule of Freedman and Diaconis (twice the interquartile range over
 * the cube root of the count). Zero is a bound, so no bin mixes gains and losses. A bin includes its lower bound.
 */
export function histogram(values: number[]): Bin[] {
  const sorted = [...values].sort((a, b) => a - b)
  const [low, high] = [sorted[0], sorted.at(-1)]
  if (low === undefined || high === undefined) return []
  const quantile = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? low
  const wanted = (2 * (quantile(0.75) - quantile(0.25))) / Math.cbrt(values.length) || (high - low) / 10 || 0.01
  let width = roundUp(wanted)
  while ((high - low) / width > MAX_BINS) width = roundUp(width * 1.01)
  const first = Math.floor(low / width)
  const bins = Array.from({ length: Math.floor(high / width) - first + 1 }, (_, index) => ({ from: (first + index) * width, to: (first + index + 1) * width, count: 0, zeros: 0 }))
  for (const value of sorted) {
    const bin = bins[Math.min(bins.length - 1, Math.max(0, Math.floor(value / width) - first))]
    if (!bin) continue
    bin.count += 1
    if (value === 0) bin.zeros += 1
  }
  return bins
}

function roundUp(width: number): number {
  const power = 10 ** Math.floor(Math.log10(width))
  return (STEPS.find((step) => step * power >= width * (1 - 1e-9)) ?? 10) * power
}
