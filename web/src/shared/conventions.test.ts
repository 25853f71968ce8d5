// Goal: the trading conventions of a run are described in the current language, with every number and its certainty.
import { describe, expect, it } from 'vitest'
import { translate, type TextKey, type Values } from '@/shared/i18n'
import { conventionsText } from './conventions'

const fee = { name: 'commission', category: 'commission', basis: 'per_share', side: 'both', rate: 0.005, minimum: 1, maximum: null, maximum_bps: 100, effective_from: null, only: null, except: [], approximate: false, unverified: false }
const market = {
  market: 'us_equity',
  costs: 'market',
  fill: 'open',
  fill_label: 'shown open',
  slippage: [{ symbols: [], bps: 10 }],
  fees: [fee, { ...fee, name: 'sec_fee', basis: 'per_million', side: 'sale', rate: 18, minimum: null, maximum_bps: null }, { ...fee, name: 'sec_fee', basis: 'per_million', side: 'sale', rate: 22.4, minimum: null, maximum_bps: null, unverified: true }],
  annual_borrow_bps: 50,
  annual_financing_bps: 0,
  dividend_withholding_pct: 0,
  participation_pct: 1,
  participation_bars: 20,
  has_price_limits: false,
  notes: ['participation cap not applied: no volume'],
  summary: '',
}
const render = (language: 'en' | 'zh', change: object = {}) =>
  conventionsText({ ...market, ...change }, (key: TextKey, values?: Values) => translate(language, key, values))

describe('conventions', () => {
  it('contains every number, and only the newest rate of each fee', () => {
    expect(render('en')).toBe(
      'Orders fill at the shown open. Slippage: 10 bps. Fees: commission 0.005 per share (min 1, max 1% of trade value); SEC fee 22.4 per million (sells only, unverified). Borrow fee: 50 bps per year. Order cap: 1% of the mean volume of 20 bars. Participation cap not applied: no volume.',
    )
  })
  it('is available in Chinese', () => {
    expect(render('zh')).toContain('佣金 0.005/股 (最低 1, 不超过成交额的 1%); SEC 规费 22.4（每百万） (仅卖出, 未核实)')
  })
  it('describes a frictionless run', () => {
    expect(render('en', { costs: 'frictionless', fees: [], participation_pct: null, notes: [] })).toBe('Orders fill at the shown open. Costs: frictionless.')
  })
})
