// Goal: every preset is a valid run of this dataset, and the one with trials compares two agents.
import { expect, it } from 'vitest'
import type { Options } from '@/server/types'
import { emptyDraft, isExperiment, pickSymbols, toExperiment, validate } from './form'
import { lastQuarter, PRESETS, presetOf } from './presets'

const options = {
  agents: [],
  models: [
    { model: 'house::contrarian', is_llm: false, usable: true },
    { model: 'house::momentum', is_llm: false, usable: true },
    { model: 'openai::gpt-5-mini', is_llm: true, usable: false },
  ],
  providers: [],
  datasets: [{ name: 'us', hash: 'abc', symbols: ['A', 'AAPL', 'ABC', 'IBM', 'MSFT', 'ZZZ'], indexes: [], universes: [], first_day: '2000-03-01', last_day: '2013-03-01', market: null }],
  analysts: ['market'],
  max_rounds: 10,
  defaults: { dataset: 'us', market: 'us_equity', costs: 'market', symbols: [], universe: null, initial_cash: 100000, benchmark: null, summaries: true, memory: 'all', max_debate_rounds: 1, max_risk_discuss_rounds: 1 },
} as unknown as Options
const [us] = options.datasets

it('prefers well-known symbols to the first of the alphabet', () => {
  expect(pickSymbols(us, 3)).toEqual(['AAPL', 'IBM', 'MSFT'])
  expect(pickSymbols(us)).toEqual(['A', 'AAPL', 'ABC', 'IBM', 'MSFT'])
})

it('finds the last complete quarter', () => {
  expect(lastQuarter(us)).toEqual({ start: '2012-10-01', end: '2012-12-31' })
  expect(lastQuarter(us && { ...us, last_day: '2012-12-31' })).toEqual({ start: '2012-10-01', end: '2012-12-31' })
  expect(lastQuarter(us && { ...us, first_day: '2012-12-03' })).toEqual({ start: '2012-12-03', end: '2013-03-01' })
})

it('fills the form with a valid run', () => {
  for (const name of PRESETS) {
    const draft = { ...emptyDraft(options, 'en'), ...presetOf(name, emptyDraft(options, 'en'), options) }
    expect(validate(draft, options), name).toEqual({})
    expect(isExperiment(draft)).toBe(name === 'trials')
  }
  const trials = { ...emptyDraft(options, 'en'), ...presetOf('trials', emptyDraft(options, 'en'), options) }
  expect(toExperiment(trials, options)).toMatchObject({ trials: 3, simulation: { start_date: '2012-10-01', end_date: '2012-12-31', agents: [{ name: 'house::momentum' }, { name: 'house::contrarian' }] } })
})

it('takes windows as the command line does', () => {
  const draft = { ...emptyDraft(options, 'en'), windows: '2 x 60' }
  expect(toExperiment(draft, options)).toMatchObject({ windows: { count: 2, days: 60 } })
  expect(validate({ ...draft, windows: 'two' }, options).windows).toBe('windows')
  expect(validate({ ...draft, start: '' }, options).start_date).toBe('missing')
})
