// The trading conventions of a run, as a paragraph.
import type { components } from '@/server/schema'
import { textOr, type Translate } from '@/shared/i18n'

type Conventions = components['schemas']['ConventionsResponse']
type Fee = components['schemas']['FeeResponse']

const FEES = ['commission', 'sec_fee', 'finra_taf', 'stamp_duty', 'transfer_fee', 'taker_fee'] as const

/** The paragraph. The server's notes are appended unchanged. */
export function conventionsText(conventions: Conventions, t: Translate): string {
  const parts = [textOr(t, `run.conventions.fill.${conventions.fill}`, conventions.fill_label)]
  if (conventions.costs === 'frictionless') parts.push(t('run.conventions.frictionless'))
  else {
    const slippage = conventions.slippage.map(({ bps, symbols }) => (symbols.length > 0 ? `${bps} bps (${symbols.join(', ')})` : `${bps} bps`))
    parts.push(t('run.conventions.slippage', { slippage: slippage.join(', ') }))
    const fees = latest(conventions.fees).filter((fee) => fee.rate !== 0)
    parts.push(fees.length > 0 ? t('run.conventions.fees', { fees: fees.map((fee) => feeText(fee, t)).join('; ') }) : t('run.conventions.free'))
    if (conventions.annual_borrow_bps !== 0) parts.push(t('run.conventions.borrow', { bps: String(conventions.annual_borrow_bps) }))
    if (conventions.annual_financing_bps !== 0) parts.push(t('run.conventions.financing', { bps: String(conventions.annual_financing_bps) }))
  }
  const { participation_pct: share, participation_bars: bars } = conventions
  if (share != null && bars != null) parts.push(t('run.conventions.cap', { share: String(share), bars: String(bars) }))
  if (conventions.universe != null) parts.push(t('run.conventions.universe', { index: conventions.universe }))
  const notes = conventions.notes.map((note) => `${note.charAt(0).toUpperCase()}${note.slice(1)}.`)
  return [...parts, ...notes].join(' ')
}

/** The rate of each fee that was in force last. The response contains the others. */
function latest(fees: Fee[]): Fee[] {
  const found = new Map<string, Fee>()
  for (const fee of fees) found.set(`${fee.name}/${fee.only ?? ''}`, fee)
  return [...found.values()]
}

/** A fee's name in the current language. A custom market's fee keeps its name. */
export function feeName(name: string, t: Translate): string {
  const known = FEES.find((fee) => fee === name)
  return known ? t(`run.fee.${known}`) : name.replaceAll('_', ' ')
}

function feeText(fee: Fee, t: Translate): string {
  const unit = textOr(t, `run.fee.basis.${fee.basis}`, fee.basis)
  const details = [
    fee.side === 'both' ? null : textOr(t, `run.fee.side.${fee.side}`, fee.side),
    fee.only ?? null,
    fee.minimum == null ? null : t('run.fee.min', { value: String(fee.minimum) }),
    fee.maximum == null ? null : t('run.fee.max', { value: String(fee.maximum) }),
    fee.maximum_bps == null ? null : t('run.fee.max.share', { value: String(fee.maximum_bps / 100) }),
    fee.approximate ? t('run.fee.approximate') : fee.unverified ? t('run.fee.unverified') : null,
  ].filter((part) => part !== null)
  return `${feeName(fee.name, t)} ${fee.rate}${unit}${details.length > 0 ? ` (${details.join(', ')})` : ''}`
}
