// The marks of an item that has several runs. No React.
import type { DegradedDay, RangeResult } from '@/server/types'
import type { Format } from '@/shared/format'
import type { Translate } from '@/shared/i18n'
import { type Mark, resultMarks } from '@/shared/ui/marks'

/** What any of the runs is marked with, once each. With several runs, the explanation says how many have it. */
export function marksOfRuns(results: readonly RangeResult[], t: Translate, format: Format): Mark[] {
  const byKey = new Map<string, Mark[]>()
  for (const mark of results.flatMap((result) => resultMarks(result, t, format))) byKey.set(mark.key, [...(byKey.get(mark.key) ?? []), mark])
  return [...byKey.values()].flatMap((marks) => {
    const [first] = marks
    if (!first || results.length === 1) return marks
    const runs = t('compare.marks.runs', { count: marks.length, total: results.length })
    return [{ ...first, title: [first.title, runs].filter(Boolean).join(' ') }]
  })
}

/** The days of all runs together, and the first reason of any. */
export function researchOfRuns(results: readonly RangeResult[]): { full: number; total: number; first: DegradedDay | undefined } {
  return {
    full: results.reduce((sum, result) => sum + result.full_research.days, 0),
    total: results.reduce((sum, result) => sum + result.full_research.total_days, 0),
    first: results.flatMap((result) => result.provenance.reasons)[0],
  }
}
