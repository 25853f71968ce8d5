import { expect, it } from 'vitest'
import type { Options } from '@/server/types'
import { agentNames, benchmarksOf, validate, emptyDraft, fieldOf, symbolsOf, toCurl, toTrigger } from './form'

const options: Options = {
  kinds: ['solo', 'desk'],
  agents: [],
  models: [
    { model: 'house::momentum', is_llm: false, usable: true },
    { model: 'openai::gpt-5-mini', is_llm: true, usable: false },
  ],
  providers: [{ provider: 'openai', configured: false, problem: 'the key is not set' }],
  datasets: [{ name: 'us', hash: 'abc', symbols: ['AAPL', 'IBM', 'brk.b'], indexes: ['SPX'], universes: [], first_day: '2000-03-01', last_day: '2013-03-01', market: null }],
  nodes: [],
  baselines: ['buy_and_hold'],
  markets: [],
  analysts: ['market', 'social', 'news', 'fundamentals'],
  memory: ['all'],
  languages: ['en', 'zh'],
  tools: [],
  max_agents: 64,
  max_rounds: 10,
  defaults: { dataset: 'us', market: 'us_equity', costs: 'market', symbols: [], universe: null, initial_cash: 100000, benchmark: null, summaries: true, memory: 'all', max_debate_rounds: 1, max_risk_discuss_rounds: 1 },
  deployment_mode: 'prod',
  is_dev_mode: false,
  preserve_dev_data: null,
}

it('starts with a valid draft', () => {
  const draft = emptyDraft(options, 'en')
  expect(validate(draft, options)).toEqual({})
  expect(toTrigger(draft, options).costs).toBe('market')
  expect(toTrigger(draft, options)).toMatchObject({ dataset: 'us', start_date: '2013-02-01', end_date: '2013-03-01', agents: [{ name: 'house::momentum', kind: 'solo' }], initial_cash: 100000 })
})

// Goal: an index replaces the symbols in the request and the command, and symbols are then optional.
it('accepts an index as the universe', () => {
  const [us] = options.datasets
  if (!us) throw new Error('missing dataset')
  const configured = { ...options, datasets: [{ ...us, universes: ['SP500'] }], defaults: { ...options.defaults, universe: 'SP500' } }
  const draft = { ...emptyDraft(configured, 'en'), symbols: 'NONE' }
  expect(draft.universe).toBe('SP500')
  expect(validate(draft, configured)).toEqual({})
  expect(toTrigger(draft, configured)).toMatchObject({ universe: 'SP500' })
  expect(toTrigger(draft, configured)).not.toHaveProperty('symbols')
  expect(validate({ ...draft, universe: '' }, configured).symbols).toBe('unknown')
  expect(emptyDraft(options, 'en').universe).toBe('')
})

it('lists indexes as benchmarks and sends the selected one', () => {
  const draft = emptyDraft(options, 'en')
  expect(benchmarksOf(options.datasets[0])).toEqual(['SPX', 'AAPL', 'IBM', 'brk.b'])
  expect([draft.benchmark, toTrigger(draft, options).benchmark]).toEqual(['', undefined])
  const selected = { ...draft, benchmark: 'SPX' }
  expect(toTrigger(selected, options).benchmark).toBe('SPX')
  const configured = { ...options, defaults: { ...options.defaults, benchmark: 'SPX' } }
  expect(emptyDraft(configured, 'en').benchmark).toBe('SPX')
  expect(emptyDraft({ ...options, defaults: { ...options.defaults, benchmark: 'NDX' } }, 'en').benchmark).toBe('')
  expect(fieldOf('benchmark')).toBe('benchmark')
})

it('parses typed symbols and reports unknown ones', () => {
  const draft = { ...emptyDraft(options, 'en'), symbols: 'aapl,  BRK.B ibm, NONE,' }
  expect(symbolsOf(draft, options.datasets[0])).toEqual(['AAPL', 'brk.b', 'IBM', 'NONE'])
  expect(validate(draft, options).symbols).toBe('unknown')
})

it('sends a desk with its models, analysts and rounds', () => {
  const draft = emptyDraft(options, 'en')
  const [agent] = draft.agents
  if (!agent) throw new Error('the draft has no agent')
  draft.agents = [{ ...agent, kind: 'desk', deep: 'openai::gpt-5', analysts: ['market', 'news'], debateRounds: '2' }]
  expect(toTrigger(draft, options).agents).toEqual([
    { name: 'desk:house::momentum', kind: 'desk', model: 'house::momentum', language: 'en', desk: { deep_think_llm: 'openai::gpt-5', selected_analysts: ['market', 'news'], max_debate_rounds: 2, max_risk_discuss_rounds: 1 } },
  ])
  const other: typeof agent = { ...agent, kind: 'desk' }
  expect(agentNames([...draft.agents, other])).toEqual(['desk:house::momentum+openai::gpt-5', 'desk:house::momentum'])
  draft.agents = draft.agents.map((one) => ({ ...one, analysts: [] }))
  expect(validate(draft, options).agents).toBe('analysts')
  draft.agents = draft.agents.map((one) => ({ ...one, analysts: ['market'], debateRounds: '11' }))
  expect(validate(draft, options).agents).toBe('rounds')
})

it('sends a configured agent by name, and writes any request for curl', () => {
  const configured = { ...options, agents: [{ name: 'cautious', kind: 'desk', model: 'house::momentum', is_llm: false, problem: null }] }
  const draft = emptyDraft(configured, 'en')
  expect(agentNames(draft.agents)).toEqual(['cautious'])
  expect(toTrigger(draft, configured)).toMatchObject({ models: ['cautious'] })
  expect(toTrigger(draft, configured).agents).toBeUndefined()
  const [agent] = draft.agents
  if (!agent) throw new Error('the draft has no agent')
  const curl = toCurl({ ...draft, trials: '3', agents: [{ ...agent, kind: 'solo', language: 'zh' }] }, configured, 'http://127.0.0.1:8080')
  expect(curl).toMatch(/^curl -X POST http:\/\/127.0.0.1:8080\/experiments .* -d '\{"simulation":.*"language":"zh".*"trials":3\}'$/)
})

it('maps API errors to form fields', () => {
  expect(['models', 'agents[0].desk', 'initial_cash', 'body', null].map(fieldOf)).toEqual(['agents', 'agents', 'initial_cash', null, null])
})
