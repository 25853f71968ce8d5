// Numbers, money and times in the reader's language. Absent figures are a dash, never a zero.
import { useMemo } from 'react'
import { useLanguage } from './i18n'

export const ABSENT = '–'

const CURRENCY: Record<string, string> = { us_equity: 'USD', cn_a_share: 'CNY' }

export type Format = ReturnType<typeof makeFormat>

type Maybe = number | null | undefined

export function makeFormat(locale: string) {
  const units = locale.startsWith('zh') ? UNITS.zh : UNITS.en
  const kept = new Map<string, Intl.NumberFormat>()
  const numbers = (options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify(options)
    let format = kept.get(key)
    if (!format) kept.set(key, (format = new Intl.NumberFormat(locale, options)))
    return format
  }
  const show = (value: Maybe, options: Intl.NumberFormatOptions) =>
    // What rounds to zero has no sign.
    value == null || !Number.isFinite(value) ? ABSENT : numbers({ signDisplay: 'negative', ...options }).format(value)
  const days = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' })
  const short = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
  const months = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', timeZone: 'UTC' })
  const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' })
  const clocks = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' })
  const zoned = new Map<string, Intl.DateTimeFormat>()
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' })
  const at = (text: string | null | undefined) => {
    const date = text ? new Date(text) : null
    return date && !Number.isNaN(date.getTime()) ? date : null
  }

  return {
    /** An amount of a market's money. */
    money: (value: Maybe, market?: string | null, digits = 2) => {
      const currency = CURRENCY[market ?? 'us_equity']
      const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits }
      return show(value, currency ? { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...fixed } : fixed)
    },
    /** The same, with its sign. */
    gain: (value: Maybe, market?: string | null) => {
      const currency = CURRENCY[market ?? 'us_equity']
      const fixed = { signDisplay: 'exceptZero', minimumFractionDigits: 2, maximumFractionDigits: 2 } as const
      return show(value, currency ? { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...fixed } : fixed)
    },
    /** What models cost: always dollars, finer where it is little. */
    cost: (value: Maybe) =>
      show(value, {
        style: 'currency',
        currency: 'USD',
        currencyDisplay: 'narrowSymbol',
        maximumFractionDigits: value != null && value > 0 && value < 0.1 ? 4 : 2,
      }),
    price: (value: Maybe) => show(value, { minimumFractionDigits: 2, maximumFractionDigits: 4 }),
    /** A fraction as percent. */
    percent: (value: Maybe, digits = 2) =>
      show(value, { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }),
    /** The same, with its sign. */
    change: (value: Maybe, digits = 2) =>
      show(value, {
        style: 'percent',
        signDisplay: 'exceptZero',
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }),
    ratio: (value: Maybe) => show(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    count: (value: Maybe) => show(value, { maximumFractionDigits: 0 }),
    quantity: (value: Maybe) => show(value, { maximumFractionDigits: 8 }),
    compact: (value: Maybe) => show(value, { notation: 'compact', maximumFractionDigits: 1 }),
    bytes: (value: Maybe) => {
      if (value == null) return ABSENT
      const steps = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
      const step = Math.min(3, value < 1 ? 0 : Math.floor(Math.log10(value) / 3))
      return show(value / 1000 ** step, { style: 'unit', unit: steps[step] as string, maximumFractionDigits: 1 })
    },
    /** A trading day, `YYYY-MM-DD`. */
    day: (text: string | null | undefined) => {
      const date = at(text ? `${text.slice(0, 10)}T00:00:00Z` : null)
      return date ? days.format(date) : ABSENT
    },
    /** From one trading day to another. */
    span: (from: string | null | undefined, to: string | null | undefined) => {
      const [first, last] = [at(from ? `${from.slice(0, 10)}T00:00:00Z` : null), at(to ? `${to.slice(0, 10)}T00:00:00Z` : null)]
      if (!first || !last) return [from, to].filter(Boolean).join(' – ') || ABSENT
      // Thin spaces differ between browsers, and find nothing when they are searched for.
      return first <= last ? days.formatRange(first, last).replace(/[\u2009\u202f]/g, ' ') : `${days.format(first)} – ${days.format(last)}`
    },
    /** A month, `YYYY-MM`. */
    month: (text: string) => {
      const date = at(`${text.slice(0, 7)}-01T00:00:00Z`)
      return date ? months.format(date) : ABSENT
    },
    shortDay: (text: string) => {
      const date = at(`${text.slice(0, 10)}T00:00:00Z`)
      return date ? short.format(date) : ABSENT
    },
    weekday: (text: string) => {
      const date = at(`${text.slice(0, 10)}T00:00:00Z`)
      return date ? weekday.format(date) : ABSENT
    },
    /** An instant, in the reader's zone. */
    instant: (text: string | null | undefined) => {
      const date = at(text)
      return date ? instants.format(date) : ABSENT
    },
    /** An instant of the market, in the exchange's zone, which it names; UTC where that is not known. */
    instantIn: (text: string | null | undefined, zone: string | null | undefined) => {
      const date = at(text)
      if (!date) return ABSENT
      const key = zone ?? 'UTC'
      let format = zoned.get(key)
      if (!format) zoned.set(key, (format = inZone(locale, key)))
      return format.format(date)
    },
    clock: (text: string | null | undefined) => {
      const date = at(text)
      return date ? clocks.format(date) : ABSENT
    },
    ago: (text: string | null | undefined, now: number) => {
      const date = at(text)
      if (!date) return ABSENT
      // The reader's clock may be behind the server's: nothing is shown as to come.
      const seconds = Math.min(0, (date.getTime() - now) / 1000)
      const [step, unit] = STEPS.find(([most]) => Math.abs(seconds) < most * 60) ?? ([86_400, 'day'] as const)
      return ago.format(Math.round(seconds / step), unit)
    },
    /** How long, from seconds. */
    duration: (seconds: Maybe) => {
      if (seconds == null || !Number.isFinite(seconds)) return ABSENT
      const say = (value: number, unit: keyof typeof UNITS.en, digits = 0) => `${numbers({ maximumFractionDigits: digits }).format(value)}${units[unit]}`
      if (seconds < 0.9995) return say(Math.round(seconds * 1000), 'ms')
      if (seconds < 59.95) return say(seconds, 's', seconds < 10 ? 2 : 1)
      // Rounded first, so that no minute has sixty seconds.
      const whole = Math.round(seconds)
      if (whole < 3600) return [say(Math.floor(whole / 60), 'min'), say(whole % 60, 's')].join(units.gap)
      const minutes = Math.round(seconds / 60)
      return [say(Math.floor(minutes / 60), 'h'), say(minutes % 60, 'min')].join(units.gap)
    },
  }
}

const UNITS = {
  en: { ms: ' ms', s: ' s', min: ' min', h: ' h', gap: ' ' },
  zh: { ms: ' 毫秒', s: ' 秒', min: ' 分', h: ' 小时', gap: ' ' },
} as const
function inZone(locale: string, timeZone: string): Intl.DateTimeFormat {
  const parts = { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const
  try {
    return new Intl.DateTimeFormat(locale, { ...parts, timeZone })
  } catch {
    // A zone that this browser does not know.
    return new Intl.DateTimeFormat(locale, { ...parts, timeZone: 'UTC' })
  }
}

const STEPS = [
  [1, 'second'],
  [60, 'minute'],
  [3600, 'hour'],
] as const

export function useFormat(): Format {
  const language = useLanguage()
  return useMemo(() => makeFormat(language === 'zh' ? 'zh-CN' : 'en-GB'), [language])
}

/** The class of a gain or a loss. */
export function signClass(value: Maybe): string {
  return value == null || value === 0 ? '' : value > 0 ? 'up' : 'down'
}
