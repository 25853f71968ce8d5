import { expect, it, vi } from 'vitest'
import { ABSENT, makeFormat, signClass } from './format'

const en = makeFormat('en-US')
const zh = makeFormat('zh-CN')

it('shows a missing value as a dash, never as zero', () => {
  for (const format of [en.money, en.percent, en.change, en.ratio, en.price, en.duration, en.count]) {
    expect(format(null)).toBe(ABSENT)
    expect(format(undefined)).toBe(ABSENT)
  }
  expect(en.percent(Number.NaN)).toBe(ABSENT)
  expect(en.day('no day')).toBe(ABSENT)
  expect(signClass(null)).toBe('')
})

it('shows money in the market’s currency', () => {
  expect(en.money(1234.5, 'us_equity')).toBe('$1,234.50')
  expect(zh.money(1234.5, 'cn_a_share')).toBe('¥1,234.50')
  expect(en.money(1234.5, 'crypto')).toBe('1,234.50')
  expect(en.gain(-3, 'us_equity')).toBe('-$3.00')
})

it('shows a sign for changes, except for zero', () => {
  expect(en.change(0.0123)).toBe('+1.23%')
  expect(en.change(-0.0123)).toBe('-1.23%')
  expect(en.change(0)).toBe('0.00%')
})

it('shows days and durations in the locale', () => {
  expect(en.day('2012-10-01')).toBe('Oct 1, 2012')
  expect(zh.day('2012-10-01')).toBe('2012年10月1日')
  expect(en.duration(0.0042)).toBe('4 ms')
  expect(en.duration(75)).toBe('1 min 15 s')
  expect(en.duration(119.6)).toBe('2 min 0 s')
  expect(en.duration(59.96)).toBe('1 min 0 s')
  expect(en.duration(3599.7)).toBe('1 h 0 min')
  expect(zh.duration(75)).toBe('1 分 15 秒')
  expect(en.span('2012-10-01', '2012-12-31')).toBe('Oct 1 – Dec 31, 2012')
  expect(en.span('2012-12-31', '2012-10-01')).toBe('Dec 31, 2012 – Oct 1, 2012')
  expect(en.span('', null)).toBe(ABSENT)
  expect(zh.month('2012-10')).toBe('2012年10月')
  // Ranges and single dates have one form.
  expect(zh.span('2012-10-01', '2012-12-31')).toBe('2012年10月1日 – 12月31日')
  expect(zh.span('2011-10-01', '2012-12-31')).toBe('2011年10月1日 – 2012年12月31日')
  expect(en.ago('2026-11-22T05:00:00Z', Date.parse('2026-11-22T05:02:00Z'))).toBe('2m ago')
})

it('names the exchange’s time zone as traders do, in summer and winter', () => {
  expect(en.instantIn('2012-10-01T13:30:00Z', 'America/New_York')).toMatch(/^Oct 1, 2012.* 09:30 ET$/)
  expect(en.instantIn('2012-12-03T14:30:00Z', 'America/New_York')).toMatch(/^Dec 3, 2012.* 09:30 ET$/)
  expect(zh.instantIn('2012-10-08T01:30:00Z', 'Asia/Shanghai')).toMatch(/^2012年10月8日.*09:30 北京时间$/)
  expect(en.instantIn('2012-10-01T13:30:00Z', null)).toMatch(/13:30 UTC$/)
  expect(en.instantIn('2012-10-01T13:30:00Z', 'Mars/Olympus')).toMatch(/13:30 UTC$/)
})

it('formats a range once', () => {
  const formatRange = vi.spyOn(Intl.DateTimeFormat.prototype, 'formatRange')
  const texts = Array.from({ length: 3 }, () => en.span('2011-01-03', '2011-03-31'))
  expect(new Set(texts)).toEqual(new Set(['Jan 3 – Mar 31, 2011']))
  expect(formatRange).toHaveBeenCalledTimes(1)
})
