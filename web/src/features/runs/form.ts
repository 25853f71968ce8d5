// The state of the New run form, its validation, and the request and command that it produces. No React.
import type { AgentBody, DatasetOption, ExperimentBody, Options, Trigger } from '@/server/types'
import { oneOf } from '@/shared/oneOf'

export type Analyst = Options['analysts'][number]

export interface AgentDraft {
  /** `named`: an agent of the server's configuration. */
  kind: 'solo' | 'desk' | 'named'
  /** Only for `named`. */
  name: string
  model: string
  language: 'en' | 'zh'
  /** For a desk. Empty: the agent's model. */
  quick: string
  deep: string
  analysts: Analyst[]
  debateRounds: string
  riskRounds: string
}

export const COSTS = ['market', 'frictionless'] as const
export const MEMORIES = ['all', 'rounds+open', 'rounds', 'off'] as const
/** How to handle days that are already completed. */
export const DONE = ['skip', 'degraded', 'all'] as const

export interface Draft {
  dataset: string
  /** As typed, separated by commas or spaces. */
  symbols: string
  /** An index whose members are traded each day. Empty: the symbols. */
  universe: string
  start: string
  end: string
  agents: AgentDraft[]
  /** Empty: the dataset's market. */
  market: string
  costs: (typeof COSTS)[number]
  cash: string
  /** A symbol or index. Empty: none. */
  benchmark: string
  budgetUsd: string
  seed: string
  /** How often each agent runs. More than once makes it an experiment. */
  trials: string
  /** `2x60d`: two windows of 60 trading days. Empty: all days. */
  windows: string
  memory: (typeof MEMORIES)[number]
  summaries: boolean
  done: (typeof DONE)[number]
}

export type FieldName = 'dataset' | 'universe' | 'symbols' | 'start_date' | 'end_date' | 'agents' | 'market' | 'costs' | 'initial_cash' | 'budget' | 'trials' | 'windows' | 'benchmark' | 'seed' | 'memory' | 'done'
export type FieldErrors = Partial<Record<FieldName, 'missing' | 'order' | 'number' | 'twice' | 'unknown' | 'form' | 'analysts' | 'rounds' | 'windows'>>

/** Fields in display order. */
export const FIELDS: FieldName[] = ['dataset', 'universe', 'symbols', 'start_date', 'end_date', 'agents', 'initial_cash', 'budget', 'trials', 'windows', 'benchmark', 'market', 'costs', 'memory', 'seed']

/** Fields of the collapsed section. */
export const ADVANCED: FieldName[] = ['windows', 'benchmark', 'market', 'costs', 'memory', 'seed']

/** The dataset's last month, or less if it is shorter. */
export function defaultSpan(dataset: DatasetOption | undefined): { start: string; end: string } {
  const end = dataset?.last_day ?? ''
  if (end === '') return { start: '', end: '' }
  const from = new Date(`${end}T00:00:00Z`)
  from.setUTCMonth(from.getUTCMonth() - 1)
  const start = from.toISOString().slice(0, 10)
  const first = dataset?.first_day ?? start
  return { start: start < first ? first : start, end }
}

/** Large, liquid instruments, which say more than the first ones of the alphabet. */
const WELL_KNOWN = ['AAPL', 'MSFT', 'NVDA', 'AMZN', 'GOOGL', 'GOOG', 'META', 'FB', 'JPM', 'IBM', 'SPY', '600519.SH', '600036.SH', 'BTCUSDT', 'ETHUSDT', 'BTC-USD', 'ETH-USD']

/** A few symbols, in the order of the dataset: a run of all may be long. */
export function pickSymbols(dataset: DatasetOption | undefined, count = 5): string[] {
  const all = dataset?.symbols ?? []
  const known = WELL_KNOWN.filter((symbol) => all.includes(symbol))
  const picked = new Set([...new Set([...known, ...all])].slice(0, count))
  return all.filter((symbol) => picked.has(symbol))
}

export function defaultSymbols(dataset: DatasetOption | undefined): string {
  return pickSymbols(dataset).join(', ')
}

/** The possible benchmarks: indexes first, then symbols. */
export function benchmarksOf(dataset: DatasetOption | undefined): string[] {
  return [...(dataset?.indexes ?? []), ...(dataset?.symbols ?? [])]
}

/** The configured benchmark, if the dataset has it. */
export function defaultBenchmark(options: Pick<Options, 'defaults'>, dataset: DatasetOption | undefined): string {
  const configured = options.defaults.benchmark ?? ''
  return benchmarksOf(dataset).includes(configured) ? configured : ''
}

export function emptyAgent(model: string, language: 'en' | 'zh', options: Pick<Options, 'analysts' | 'defaults'>): AgentDraft {
  return {
    kind: 'solo',
    name: '',
    model,
    language,
    quick: '',
    deep: '',
    analysts: options.analysts,
    debateRounds: String(options.defaults.max_debate_rounds),
    riskRounds: String(options.defaults.max_risk_discuss_rounds),
  }
}

export function emptyDraft(options: Options, language: 'en' | 'zh'): Draft {
  const { defaults } = options
  const preferred = options.datasets.find((one) => one.name === defaults.dataset || one.hash.startsWith(defaults.dataset))
  const dataset = preferred ?? options.datasets[0]
  const requested = defaults.symbols.filter((symbol) => dataset?.symbols.includes(symbol))
  const model = options.models.find((one) => one.model === 'house::momentum') ?? options.models[0]
  const configured = options.agents[0]
  const agent = emptyAgent(model?.model ?? '', language, options)
  return {
    dataset: dataset?.name ?? '',
    symbols: requested.length > 0 ? requested.join(', ') : defaultSymbols(dataset),
    universe: dataset?.universes.find((index) => index === defaults.universe) ?? '',
    ...defaultSpan(dataset),
    agents: [configured ? { ...agent, kind: 'named', name: configured.name } : agent],
    market: '',
    costs: oneOf(defaults.costs, COSTS) ?? 'market',
    cash: String(defaults.initial_cash),
    benchmark: defaultBenchmark(options, dataset),
    budgetUsd: '',
    seed: '0',
    trials: '1',
    windows: '',
    memory: oneOf(defaults.memory, MEMORIES) ?? 'all',
    summaries: defaults.summaries,
    done: 'skip',
  }
}

/** The typed symbols, in the dataset's spelling. */
export function symbolsOf(draft: Pick<Draft, 'symbols'>, dataset: DatasetOption | undefined): string[] {
  const spelled = new Map((dataset?.symbols ?? []).map((symbol) => [symbol.toUpperCase(), symbol]))
  const typed = draft.symbols.split(/[\s,;，、]+/).filter(Boolean)
  return [...new Set(typed.map((symbol) => (dataset?.symbols.includes(symbol) ? symbol : (spelled.get(symbol.toUpperCase()) ?? symbol))))]
}

/** The typed symbols that are not in the dataset. */
export function unknownSymbols(draft: Pick<Draft, 'symbols'>, dataset: DatasetOption | undefined): string[] {
  return symbolsOf(draft, dataset).filter((symbol) => !dataset?.symbols.includes(symbol))
}

/** The agents' names. Desks of the same model are told apart by their other models. */
export function agentNames(agents: AgentDraft[]): string[] {
  const plain = agents.map((agent) => (agent.kind === 'named' ? agent.name : `${agent.kind === 'desk' ? 'desk:' : ''}${agent.model.trim()}`))
  return agents.map((agent, at) => {
    const name = plain[at] ?? ''
    if (agent.kind !== 'desk' || plain.indexOf(name) === plain.lastIndexOf(name)) return name
    return [name, agent.quick.trim(), agent.deep.trim()].filter(Boolean).join('+')
  })
}

const MODEL = /^[^:\s]+::\S+$/

/** The error of one agent. */
export function agentError(agent: AgentDraft, maxRounds: number): 'missing' | 'form' | 'analysts' | 'rounds' | undefined {
  if (agent.kind === 'named') return undefined
  if (agent.model.trim() === '') return 'missing'
  const models = [agent.model, ...(agent.kind === 'desk' ? [agent.quick, agent.deep] : [])].map((model) => model.trim()).filter(Boolean)
  if (models.some((model) => !MODEL.test(model))) return 'form'
  if (agent.kind !== 'desk') return undefined
  if (agent.analysts.length === 0) return 'analysts'
  const fits = (rounds: string) => /^\d+$/.test(rounds) && Number(rounds) >= 1 && Number(rounds) <= maxRounds
  return fits(agent.debateRounds) && fits(agent.riskRounds) ? undefined : 'rounds'
}

export function validate(draft: Draft, options: Options): FieldErrors {
  const errors: FieldErrors = {}
  const dataset = options.datasets.find((one) => one.name === draft.dataset)
  if (draft.universe === '') {
    if (symbolsOf(draft, dataset).length === 0) errors.symbols = 'missing'
    else if (unknownSymbols(draft, dataset).length > 0) errors.symbols = 'unknown'
  }
  if (draft.end === '') errors.end_date = 'missing'
  if (draft.start !== '' && draft.end !== '' && draft.start > draft.end) errors.end_date = 'order'
  const agents = draft.agents.map((agent) => agentError(agent, options.max_rounds)).find((why) => why !== undefined)
  if (agents) errors.agents = agents
  const names = agentNames(draft.agents)
  if (!errors.agents && new Set(names).size < names.length) errors.agents = 'twice'
  if (!(Number(draft.cash) > 0)) errors.initial_cash = 'number'
  if (draft.budgetUsd !== '' && !(Number(draft.budgetUsd) >= 0)) errors.budget = 'number'
  if (!/^\d+$/.test(draft.seed)) errors.seed = 'number'
  if (!/^[1-9]\d*$/.test(draft.trials)) errors.trials = 'number'
  if (draft.windows.trim() !== '' && !windowsOf(draft)) errors.windows = 'windows'
  // An experiment plans its days in advance.
  if (isExperiment(draft) && draft.start === '') errors.start_date = 'missing'
  return errors
}

function deskOf(agent: AgentDraft, options: Options): AgentBody['desk'] {
  return {
    ...(agent.quick.trim() && { quick_think_llm: agent.quick.trim() }),
    ...(agent.deep.trim() && { deep_think_llm: agent.deep.trim() }),
    ...(agent.analysts.length < options.analysts.length && { selected_analysts: agent.analysts }),
    max_debate_rounds: Number(agent.debateRounds),
    max_risk_discuss_rounds: Number(agent.riskRounds),
  }
}

export function toTrigger(draft: Draft, options: Options): Trigger {
  const dataset = options.datasets.find((one) => one.name === draft.dataset)
  const names = agentNames(draft.agents)
  const agents: AgentBody[] = draft.agents.flatMap((agent, at) =>
    agent.kind === 'named'
      ? []
      : [{ name: names[at] ?? '', kind: agent.kind, model: agent.model.trim(), language: agent.language, ...(agent.kind === 'desk' && { desk: deskOf(agent, options) }) }],
  )
  const models = draft.agents.flatMap((agent) => (agent.kind === 'named' ? [agent.name] : []))
  return {
    dataset: draft.dataset || null,
    ...(draft.universe ? { universe: draft.universe } : { symbols: symbolsOf(draft, dataset) }),
    start_date: draft.start || null,
    end_date: draft.end,
    ...(models.length > 0 && { models }),
    ...(agents.length > 0 && { agents }),
    ...(draft.market && { market: draft.market }),
    ...(draft.benchmark && { benchmark: draft.benchmark }),
    costs: draft.costs,
    initial_cash: Number(draft.cash),
    budget: draft.budgetUsd === '' ? null : { job: { usd: Number(draft.budgetUsd) } },
    seed: Number(draft.seed),
    memory: draft.memory,
    summaries: draft.summaries,
    replace_existing: draft.done === 'all',
    rerun_degraded: draft.done === 'degraded',
  }
}

/** The windows as the API takes them; `null` if there are none, or if they cannot be parsed. */
function windowsOf(draft: Pick<Draft, 'windows'>): { count: number; days: number } | null {
  const found = /^([1-9]\d*)\s*[x×]\s*([1-9]\d*)\s*d?$/i.exec(draft.windows.trim())
  return found ? { count: Number(found[1]), days: Number(found[2]) } : null
}

/** Whether several jobs are run. */
export function isExperiment(draft: Pick<Draft, 'trials' | 'windows'>): boolean {
  return Number(draft.trials) > 1 || draft.windows.trim() !== ''
}

/** The run as an experiment, which may have a single job. */
export function toExperiment(draft: Draft, options: Options): ExperimentBody {
  const windows = windowsOf(draft)
  return { simulation: toTrigger(draft, options), trials: Number(draft.trials), ...(windows && { windows }) }
}

/** The request as a command, for what no option of `papertape run` expresses. */
export function toCurl(draft: Draft, options: Options, origin: string): string {
  const [path, body] = isExperiment(draft) ? ['/experiments', toExperiment(draft, options)] : ['/simulate/trigger', toTrigger(draft, options)]
  return `curl -X POST ${origin}${path} -H 'Content-Type: application/json' -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
}

/** The form field that belongs to a field of an API error. */
export function fieldOf(rejected: string | null): FieldName | null {
  const head = rejected?.replace(/^simulation\./, '').replace(/[.[].*$/, '') ?? null
  if (head === 'models') return 'agents'
  return FIELDS.find((field) => field === head) ?? null
}
