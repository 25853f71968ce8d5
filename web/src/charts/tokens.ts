/** The color tokens of the agents' lines, in order. */
const SERIES = ['--series-1', '--series-2', '--series-3', '--series-4', '--series-5', '--series-6']

export function seriesToken(index: number): string {
  return SERIES[index % SERIES.length] as string
}
