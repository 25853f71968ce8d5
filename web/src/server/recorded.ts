// Parts of a day's result that the API document leaves open, checked as they are read.
import type { Cut, DayResult, Degradation } from './types'

type Fields = Record<string, unknown>

function fieldsOf(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
}

function listOf(value: unknown): Fields[] {
  if (!Array.isArray(value)) return []
  return value.map(fieldsOf).filter((one) => one !== null)
}

const text = (value: unknown) => (typeof value === 'string' ? value : null)

/** The nodes of a day that produced no result. */
export function degradationsOf(day: DayResult | null): Degradation[] {
  return listOf(day?.provenance.degradations).map((one) => ({
    symbol: text(one.symbol),
    node: text(one.node) ?? '',
    kind: one.kind === 'timeout' ? 'timeout' : 'error',
    reason: text(one.reason) ?? '',
    elapsed_ms: typeof one.elapsed_ms === 'number' ? one.elapsed_ms : null,
  }))
}

/** How a desk's orders were cut. */
export function cutsOf(day: DayResult | null): Cut[] {
  return listOf(fieldsOf(day?.metadata.sizing)?.cuts).map((one) => {
    const numbers = Object.entries(fieldsOf(one.numbers) ?? {}).map(([name, value]) => [name, String(value)] as const)
    return { code: text(one.code) ?? '', message: text(one.message) ?? '', symbol: text(one.symbol) ?? '', numbers: Object.fromEntries(numbers) }
  })
}

/** The research of one instrument, or that of the day. */
export function researchFields(day: DayResult, symbol: string | null): unknown {
  const own = symbol === null ? null : fieldsOf(fieldsOf(day.provenance.by_symbol)?.[symbol])
  return own?.research ?? own ?? day.provenance.research
}

/** Fields of answers that were ignored. */
export function ignoredFields(day: DayResult): { symbol: string; node: string; note: string }[] {
  return listOf(fieldsOf(day.metadata.decisions)?.notes).map((one) => ({ symbol: text(one.symbol) ?? '', node: text(one.node) ?? '', note: text(one.note) ?? '' }))
}

/** How a solo agent's conversation ended, and its number of model calls. */
export function conversationEnd(day: DayResult): { end: string | null; steps: number } | null {
  const found = fieldsOf(day.metadata.conversation)
  return found && { end: text(found.end), steps: typeof found.steps === 'number' ? found.steps : 0 }
}

/** A tool call's argument as text. */
export function argumentOf(input: unknown, name: string): string | null {
  return text(fieldsOf(input)?.[name])
}
