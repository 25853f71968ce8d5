// Numbers, money and times in the current language. A missing value is a dash, never zero.
import { LOCALES, useLanguage } from './i18n'

export const ABSENT = '–'

const CURRENCY: Record<string, string> = { us_equity: 'USD', cn_a_share: 'CNY' }

export type Format = ReturnType<typeof makeFormat>

type Maybe = number | null | undefined

const MAX_SPANS = 2000

export function makeFormat(locale: string) {
  const units = locale.startsWith('zh') ? UNITS.zh : UNITS.en
  const cache = new Map<string, Intl.NumberFormat>()
  const numbers = (options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify(options)
    let format = cache.get(key)
    if (!format) cache.set(key, (format = new Intl.NumberFormat(locale, options)))
    return format
  }
  const formatNumber = (value: Maybe, options: Intl.NumberFormatOptions) =>
    // A value that rounds to zero has no sign.
    value == null || !Number.isFinite(value) ? ABSENT : numbers({ signDisplay: 'negative', ...options }).format(value)
  const days = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' })
  const short = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' })
  const months = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', timeZone: 'UTC' })
  const monthNames = new Intl.DateTimeFormat(locale, { month: 'short', timeZone: 'UTC' })
  const instants = new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZoneName: 'short' })
  const clocks = new Intl.DateTimeFormat(locale, { timeStyle: 'medium', hourCycle: 'h23' })
  const zoned = new Map<string, Intl.DateTimeFormat>()
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' })
  // A range takes ten times as long as a day, and a list shows the same ones again and again.
  const spans = new Map<string, string>()
  const at = (text: string | null | undefined) => {
    const date = text ? new Date(text) : null
    return date && !Number.isNaN(date.getTime()) ? date : null
  }

  const formatSpan = (from: string | null | undefined, to: string | null | undefined) => {
    const [first, last] = [at(from ? `${from.slice(0, 10)}T00:00:00Z` : null), at(to ? `${to.slice(0, 10)}T00:00:00Z` : null)]
    if (!first || !last) return [from, to].filter(Boolean).join(' – ') || ABSENT
    if (first > last) return `${days.format(first)} – ${days.format(last)}`
    // Chinese ranges have a form of their own, which no single date has.
    if (locale.startsWith('zh')) return `${days.format(first)} – ${first.getUTCFullYear() === last.getUTCFullYear() ? short.format(last) : days.format(last)}`
    // Browsers differ in thin spaces, and a text search does not find them.
    return days.formatRange(first, last).replace(/[\u2009\u202f]/g, ' ')
  }

  const zoneName = (zone: string) => ZONES[locale.startsWith('zh') ? 'zh' : 'en'][zone] ?? genericName(locale, zone)

  return {
    /** An amount in the market's currency. */
    money: (value: Maybe, market?: string | null, digits = 2) => {
      const currency = CURRENCY[market ?? 'us_equity']
      const fixed = { minimumFractionDigits: digits, maximumFractionDigits: digits }
      return formatNumber(value, currency ? { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...fixed } : fixed)
    },
    /** The same, with a sign. */
    gain: (value: Maybe, market?: string | null) => {
      const currency = CURRENCY[market ?? 'us_equity']
      const fixed = { signDisplay: 'exceptZero', minimumFractionDigits: 2, maximumFractionDigits: 2 } as const
      return formatNumber(value, currency ? { style: 'currency', currency, currencyDisplay: 'narrowSymbol', ...fixed } : fixed)
    },
    /** Model cost: always US dollars, with more digits for small amounts. */
    cost: (value: Maybe) =>
      formatNumber(value, {
        style: 'currency',
        currency: 'USD',
        currencyDisplay: 'narrowSymbol',
        maximumFractionDigits: value != null && value > 0 && value < 0.1 ? 4 : 2,
      }),
    price: (value: Maybe) => formatNumber(value, { minimumFractionDigits: 2, maximumFractionDigits: 4 }),
    /** A fraction as a percentage. */
    percent: (value: Maybe, digits = 2) =>
      formatNumber(value, { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits }),
    /** The same, with a sign. */
    change: (value: Maybe, digits = 2) =>
      formatNumber(value, {
        style: 'percent',
        signDisplay: 'exceptZero',
        minimumFractionDigits: digits,
        maximumFractionDigits: digits,
      }),
    ratio: (value: Maybe) => formatNumber(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
    /** A number with this many decimals. */
    digits: (value: Maybe, digits: number) => formatNumber(value, { minimumFractionDigits: digits, maximumFractionDigits: digits }),
    /** The same, with a sign. */
    signed: (value: Maybe, digits: number) => formatNumber(value, { signDisplay: 'exceptZero', minimumFractionDigits: digits, maximumFractionDigits: digits }),
    count: (value: Maybe) => formatNumber(value, { maximumFractionDigits: 0 }),
    quantity: (value: Maybe) => formatNumber(value, { maximumFractionDigits: 8 }),
    compact: (value: Maybe) => formatNumber(value, { notation: 'compact', maximumFractionDigits: 1 }),
    bytes: (value: Maybe) => {
      if (value == null) return ABSENT
      const steps = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
      const step = Math.min(3, value < 1 ? 0 : Math.floor(Math.log10(value) / 3))
      return formatNumber(value / 1000 ** step, { style: 'unit', unit: steps[step] as string, maximumFractionDigits: 1 })
    },
    /** A trading day, `YYYY-MM-DD`. */
    day: (text: string | null | undefined) => {
      const date = at(text ? `${text.slice(0, 10)}T00:00:00Z` : null)
      return date ? days.format(date) : ABSENT
    },
    /** A range of trading days. */
    span: (from: string | null | undefined, to: string | null | undefined) => {
      const key = `${from} ${to}`
      const known = spans.get(key)
      if (known !== undefined) return known
      if (spans.size >= MAX_SPANS) spans.clear()
      const text = formatSpan(from, to)
      spans.set(key, text)
      return text
    },
    /** A month, `YYYY-MM`. */
    month: (text: string) => {
      const date = at(`${text.slice(0, 7)}-01T00:00:00Z`)
      return date ? months.format(date) : ABSENT
    },
    /** The short name of a month, 1 to 12. */
    monthName: (month: number) => monthNames.format(new Date(Date.UTC(2001, month - 1, 1))),
    shortDay: (text: string) => {
      const date = at(`${text.slice(0, 10)}T00:00:00Z`)
      return date ? short.format(date) : ABSENT
    },
    weekday: (text: string) => {
      const date = at(`${text.slice(0, 10)}T00:00:00Z`)
      return date ? weekday.format(date) : ABSENT
    },
    /** An instant in the browser's time zone, with its name. */
    instant: (text: string | null | undefined) => {
      const date = at(text)
      return date ? instants.format(date) : ABSENT
    },
    /** A market instant in the exchange's time zone, with its name (`ET`); UTC if the zone is unknown. */
    instantIn: (text: string | null | undefined, zone: string | null | undefined) => {
      const date = at(text)
      if (!date) return ABSENT
      const key = zone ?? 'UTC'
      let format = zoned.get(key)
      if (!format) zoned.set(key, (format = inZone(locale, key)))
      return `${format.format(date)} ${zoneName(key)}`
    },
    /** The name of a time zone: `ET` for America/New_York. */
    zoneName,
    clock: (text: string | null | undefined) => {
      const date = at(text)
      return date ? clocks.format(date) : ABSENT
    },
    ago: (text: string | null | undefined, now: number) => {
      const date = at(text)
      if (!date) return ABSENT
      // The browser's clock may be behind the server's: never show a time in the future.
      const seconds = Math.min(0, (date.getTime() - now) / 1000)
      const elapsed = Math.abs(seconds)
      const [step, unit] = STEPS.find(([seconds]) => elapsed < seconds * 60) ?? ([86_400, 'day'] as const)
      return ago.format(Math.round(seconds / step), unit)
    },
    /** A duration, from seconds. */
    duration: (seconds: Maybe) => {
      if (seconds == null || !Number.isFinite(seconds)) return ABSENT
      const withUnit = (value: number, unit: keyof typeof UNITS.en, digits = 0) => `${numbers({ maximumFractionDigits: digits }).format(value)}${units[unit]}`
      if (seconds < 0.9995) return withUnit(Math.round(seconds * 1000), 'ms')
      if (seconds < 59.95) return withUnit(seconds, 's', seconds < 10 ? 2 : 1)
      // Round first, so that no minute has sixty seconds.
      const whole = Math.round(seconds)
      if (whole < 3600) return [withUnit(Math.floor(whole / 60), 'min'), withUnit(whole % 60, 's')].join(units.gap)
      const minutes = Math.round(seconds / 60)
      return [withUnit(Math.floor(minutes / 60), 'h'), withUnit(minutes % 60, 'min')].join(units.gap)
    },
  }
}

const UNITS = {
  en: { ms: ' ms', s: ' s', min: ' min', h: ' h', gap: ' ' },
  zh: { ms: ' 毫秒', s: ' 秒', min: ' 分', h: ' 小时', gap: ' ' },
} as const
/** Names as traders write them. Browsers use others, or an offset. */
const ZONES: Record<'en' | 'zh', Record<string, string>> = {
  en: { 'America/New_York': 'ET', 'America/Chicago': 'CT', 'Asia/Shanghai': 'China Time', 'Asia/Hong_Kong': 'Hong Kong Time', UTC: 'UTC' },
  zh: { 'America/New_York': '美东时间', 'America/Chicago': '美中时间', 'Asia/Shanghai': '北京时间', 'Asia/Hong_Kong': '香港时间', UTC: 'UTC' },
}

function genericName(locale: string, timeZone: string): string {
  try {
    const parts = new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'shortGeneric' }).formatToParts(0)
    return parts.find((part) => part.type === 'timeZoneName')?.value ?? timeZone
  } catch {
    // The browser does not know this zone: times are in UTC.
    return 'UTC'
  }
}

function inZone(locale: string, timeZone: string): Intl.DateTimeFormat {
  const parts = { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  try {
    return new Intl.DateTimeFormat(locale, { ...parts, timeZone })
  } catch {
    // The browser does not know this zone.
    return new Intl.DateTimeFormat(locale, { ...parts, timeZone: 'UTC' })
  }
}

const STEPS = [
  [1, 'second'],
  [60, 'minute'],
  [3600, 'hour'],
] as const

const formats = new Map<string, Format>()

/** The same object for all components: formatters of dates are slow to create. */
export function useFormat(): Format {
  const locale = LOCALES[useLanguage()]
  let format = formats.get(locale)
  if (!format) formats.set(locale, (format = makeFormat(locale)))
  return format
}

/** The CSS class of a gain or a loss. */
export function signClass(value: Maybe): string {
  return value == null || value === 0 ? '' : value > 0 ? 'up' : 'down'
}
