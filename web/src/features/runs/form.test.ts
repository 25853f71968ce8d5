import { expect, it } from 'vitest'
import type { Options } from '@/server/types'
import { agentName, benchmarksOf, check, emptyDraft, fieldOf, symbolsOf, toCommand, toTrigger } from './form'

const options: Options = {
  kinds: ['solo', 'desk'],
  agents: [],
  models: [
    { model: 'house::momentum', is_llm: false, usable: true },
    { model: 'openai::gpt-5-mini', is_llm: true, usable: false },
  ],
  providers: [{ provider: 'openai', configured: false, problem: 'the key is not set' }],
  datasets: [{ name: 'us', hash: 'abc', symbols: ['AAPL', 'IBM', 'brk.b'], indexes: ['SPX'], universes: [], first_day: '2000-03-01', last_day: '2013-03-01', market: null }],
  baselines: ['buy_and_hold'],
  markets: [],
  analysts: ['market', 'social', 'news', 'fundamentals'],
  memory: ['all'],
  languages: ['en', 'zh'],
  tools: [],
  most_agents: 64,
  most_rounds: 10,
  defaults: { dataset: 'us', market: 'us_equity', costs: 'market', symbols: [], universe: null, initial_cash: 100000, benchmark: null, summaries: true, memory: 'all', max_debate_rounds: 1, max_risk_discuss_rounds: 1 },
  deployment_mode: 'prod',
  is_dev_mode: false,
  preserve_dev_data: null,
}

it('begins with what can be sent as it is', () => {
  const draft = emptyDraft(options, 'en')
  expect(check(draft, options)).toEqual({})
  expect(toTrigger(draft, options).costs).toBe('market')
  expect(toCommand({ ...draft, costs: 'frictionless' }, options)).toContain('--frictionless')
  expect(toTrigger(draft, options)).toMatchObject({ dataset: 'us', start_date: '2013-02-01', end_date: '2013-03-01', agents: [{ name: 'house::momentum', kind: 'solo' }], initial_cash: 100000 })
  expect(toCommand(draft, options)).toBe('papertape run --model house::momentum --symbols AAPL,IBM,brk.b --start 2013-02-01 --end 2013-03-01')
})

// Goal: an index takes the place of symbols, in what is sent and in the command, and no symbol is then needed.
it('has an index for its universe', () => {
  const [us] = options.datasets
  if (!us) throw new Error('there is one')
  const own = { ...options, datasets: [{ ...us, universes: ['SP500'] }], defaults: { ...options.defaults, universe: 'SP500' } }
  const draft = { ...emptyDraft(own, 'en'), symbols: 'NONE' }
  expect(draft.universe).toBe('SP500')
  expect(check(draft, own)).toEqual({})
  expect(toTrigger(draft, own)).toMatchObject({ universe: 'SP500' })
  expect(toTrigger(draft, own)).not.toHaveProperty('symbols')
  expect(toCommand(draft, own)).toContain('--universe SP500 --start')
  expect(toCommand(draft, own)).not.toContain('--symbols')
  expect(check({ ...draft, universe: '' }, own).symbols).toBe('unknown')
  expect(emptyDraft(options, 'en').universe).toBe('')
})

it('offers indexes as benchmarks, and sends the one that is chosen', () => {
  const draft = emptyDraft(options, 'en')
  expect(benchmarksOf(options.datasets[0])).toEqual(['SPX', 'AAPL', 'IBM', 'brk.b'])
  expect([draft.benchmark, toTrigger(draft, options).benchmark]).toEqual(['', undefined])
  const chosen = { ...draft, benchmark: 'SPX' }
  expect(toTrigger(chosen, options).benchmark).toBe('SPX')
  expect(toCommand(chosen, options)).toContain(' --benchmark SPX')
  const usual = { ...options, defaults: { ...options.defaults, benchmark: 'SPX' } }
  expect(emptyDraft(usual, 'en').benchmark).toBe('SPX')
  expect(emptyDraft({ ...options, defaults: { ...options.defaults, benchmark: 'NDX' } }, 'en').benchmark).toBe('')
  expect(fieldOf('benchmark')).toBe('benchmark')
})

it('reads symbols as they are typed, and names those that are not there', () => {
  const draft = { ...emptyDraft(options, 'en'), symbols: 'aapl,  BRK.B ibm, NONE,' }
  expect(symbolsOf(draft, options.datasets[0])).toEqual(['AAPL', 'brk.b', 'IBM', 'NONE'])
  expect(check(draft, options).symbols).toBe('unknown')
})

it('sends a desk with its models, analysts and rounds', () => {
  const draft = emptyDraft(options, 'en')
  const [agent] = draft.agents
  if (!agent) throw new Error('there is one')
  draft.agents = [{ ...agent, kind: 'desk', deep: 'openai::gpt-5', analysts: ['market', 'news'], debateRounds: '2' }]
  expect(toTrigger(draft, options).agents).toEqual([
    { name: 'desk:house::momentum+openai::gpt-5', kind: 'desk', model: 'house::momentum', language: 'en', desk: { deep_think_llm: 'openai::gpt-5', selected_analysts: ['market', 'news'], max_debate_rounds: 2, max_risk_discuss_rounds: 1 } },
  ])
  expect(toCommand(draft, options)).toContain('--agent desk --deep openai::gpt-5 --analysts market,news --debate-rounds 2 --model house::momentum')
  draft.agents = draft.agents.map((one) => ({ ...one, analysts: [] }))
  expect(check(draft, options).agents).toBe('analysts')
  draft.agents = draft.agents.map((one) => ({ ...one, analysts: ['market'], debateRounds: '11' }))
  expect(check(draft, options).agents).toBe('rounds')
})

it('has a configured agent by its name, and no command for what the command line cannot say', () => {
  const own = { ...options, agents: [{ name: 'cautious', kind: 'desk', model: 'house::momentum', is_llm: false, problem: null }] }
  const draft = emptyDraft(own, 'en')
  expect(draft.agents.map(agentName)).toEqual(['cautious'])
  expect(toTrigger(draft, own)).toMatchObject({ models: ['cautious'] })
  expect(toTrigger(draft, own).agents).toBeUndefined()
  const [agent] = draft.agents
  if (!agent) throw new Error('there is one')
  expect(toCommand({ ...draft, agents: [{ ...agent, kind: 'solo', language: 'zh' }] }, own)).toBeNull()
  expect(toCommand({ ...draft, agents: [{ ...agent, kind: 'solo' }, { ...agent, kind: 'desk' }] }, own)).toBeNull()
})

it('knows where a refusal belongs', () => {
  expect(['models', 'agents[0].desk', 'initial_cash', 'body', null].map(fieldOf)).toEqual(['agents', 'agents', 'initial_cash', null, null])
})
