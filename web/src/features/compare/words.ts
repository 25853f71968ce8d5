// A comparison's words. Verdicts and reasons come from the server; only their codes are translated.
import type { ComparedItem, ComparedPair } from '@/server/types'
import type { Format } from '@/shared/format'
import { ABSENT } from '@/shared/format'
import { textOr, type Translate } from '@/shared/i18n'
import { itemOf, parseItem } from './select'

/** What a verdict may depend on, as the server writes it after the verdict. */
const DEPENDS: Record<string, 'compare.depends.fill' | 'compare.depends.cost'> = {
  'depends on the fill': 'compare.depends.fill',
  'depends on model cost': 'compare.depends.cost',
}

/** The verdict in words. What it depends on is part of it. */
export function verdictText(pair: Pick<ComparedPair, 'verdict' | 'words'>, t: Translate): string {
  const details = /\((.*)\)$/.exec(pair.words)?.[1]?.split(', ') ?? []
  const words = details.map((one) => {
    const key = DEPENDS[one]
    return key ? t(key) : one
  })
  return words.length > 0 ? `${t(`verdict.${pair.verdict}`)} (${words.join(t('compare.separator'))})` : t(`verdict.${pair.verdict}`)
}

/** The symbol of a verdict: color is never the only signal. */
export const VERDICT_MARKS: Record<ComparedPair['verdict'], string> = {
  better: '▲',
  worse: '▼',
  not_distinguishable: '≈',
  too_few_days: '…',
  interim: '…',
  identical: '=',
  insolvent: '!',
  not_comparable: '≠',
}

/** A code of the API as words; unchanged if there are none. */
export function codeText(group: 'compare.what' | 'compare.no.sharpe' | 'compare.estimand' | 'compare.null' | 'compare.kind' | 'compare.branch.differs', code: string, t: Translate): string {
  return textOr(t, `${group}.${code}`, code.replaceAll('_', ' '))
}

/** An item's name. Baselines have one in the current language. */
export function itemLabel(item: ComparedItem, t: Translate): string {
  return item.kind === 'baseline' ? textOr(t, `compare.item.${parseItem(item.id).id}`, item.label) : item.label
}

/** The name of the item with this ID. */
export function nameOf(items: readonly ComparedItem[], id: string, t: Translate): string {
  const item = itemOf(items, id)
  return item ? itemLabel(item, t) : id
}

/** A difference of log returns in points: 0.01 is one point. */
export function points(value: number | null | undefined, format: Format, t: Translate, digits = 1): string {
  return value == null ? ABSENT : t('compare.points', { value: format.signed(100 * value, digits) })
}

/** An interval of differences, in points. */
export function pointsInterval(interval: { low: number; high: number } | null | undefined, format: Format, scale = 1, digits = 1): string {
  return interval ? `[${format.signed(100 * scale * interval.low, digits)}, ${format.signed(100 * scale * interval.high, digits)}]` : ''
}

/** A p-value, as it is commonly written. */
export function pValue(value: number | null | undefined, format: Format): string {
  if (value == null) return ABSENT
  return value < 0.001 ? '< 0.001' : format.digits(value, 3)
}
