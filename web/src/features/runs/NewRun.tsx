// The form of a new run. The options come from the server; its errors are shown next to their fields.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useRouter } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { address, ApiError } from '@/server/client'
import { options as optionsQuery } from '@/server/queries'
import type { DatasetOption, Options } from '@/server/types'
import { useStartExperiment, useStartRun } from '@/server/writes'
import { useFormat } from '@/shared/format'
import { textOr, type Translate, useLanguage, useText } from '@/shared/i18n'
import { Dialog } from '@/shared/ui/dialog'
import { Icon } from '@/shared/ui/icons'
import { Select } from '@/shared/ui/select'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { AgentFields } from './AgentFields'
import { EstimatePanel } from './EstimatePanel'
import { benchmarksOf, COSTS, DONE, MEMORIES, validate, type Draft, emptyDraft, fieldOf, type FieldName, FIELDS, ADVANCED, symbolsOf, isExperiment, toCurl, toExperiment, toTrigger, unknownSymbols, defaultBenchmark, defaultSpan, defaultSymbols, type FieldErrors } from './form'
import { RunCommand } from './RunCommand'
import { PRESETS, presetOf, type PresetName } from './presets'
import css from './runs.module.css'

const MEMORY_TEXTS = { all: 'new.memory.all', 'rounds+open': 'new.memory.open', rounds: 'new.memory.rounds', off: 'new.memory.off' } as const

export function NewRun({ onClose }: { onClose: () => void }) {
  const t = useText()
  const query = useQuery(optionsQuery())
  return (
    <Dialog className="sheet" label={t('new.title')} onClose={onClose}>
      {query.isPending && <Loading />}
      {query.error && (
        <div className="panel-body">
          <Failed error={query.error} retry={() => void query.refetch()} />
        </div>
      )}
      {query.data && query.data.datasets.length === 0 && <Empty title={t('data.empty')} command="papertape data import FILE… --name NAME" />}
      {query.data && query.data.datasets.length > 0 && <Form options={query.data} onClose={onClose} />}
    </Dialog>
  )
}

function Form({ options, onClose }: { options: Options; onClose: () => void }) {
  const t = useText()
  const format = useFormat()
  const language = useLanguage()
  const navigate = useNavigate()
  const router = useRouter()
  const startRun = useStartRun()
  const startExperiment = useStartExperiment()
  const form = useRef<HTMLFormElement>(null)
  const [draft, setDraft] = useState<Draft>(() => emptyDraft(options, language))
  const [preset, setPreset] = useState<PresetName | null>(null)
  const start = isExperiment(draft) ? startExperiment : startRun
  const [attempts, setAttempts] = useState(0)
  const [expanded, setExpanded] = useState(false)
  const dataset = options.datasets.find((one) => one.name === draft.dataset)
  const errors = attempts > 0 ? validate(draft, options) : {}
  const rejected = start.error instanceof ApiError ? start.error : null
  const rejectedField = fieldOf(rejected?.field ?? null)
  const change = (part: Partial<Draft>) => {
    setDraft((now) => ({ ...now, ...part }))
    setPreset(null)
    startRun.reset()
    startExperiment.reset()
  }
  const applyPreset = (name: PresetName) => {
    change(presetOf(name, draft, options))
    setPreset(name)
  }
  const fieldError = (field: FieldName) => errorText(t, errors, field, draft, options) ?? (rejectedField === field ? rejected?.message.replace(/^[^:]+: /, '') : undefined)
  const first = FIELDS.find((field) => fieldError(field) !== undefined)
  const advancedOpen = expanded || ADVANCED.some((field) => fieldError(field) !== undefined)
  // After an invalid submit, focus the first invalid field.
  useEffect(() => {
    if (first === undefined || (attempts === 0 && !rejected)) return
    const element = form.current?.querySelector<HTMLElement>(`[data-field="${first}"]`)
    const input = element?.querySelector<HTMLElement>('[aria-invalid]') ?? element?.querySelector<HTMLElement>('input, select')
    input?.focus()
    element?.scrollIntoView({ block: 'nearest' })
    // Once per submit or rejection.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [attempts, rejected])

  const send = (event: FormEvent) => {
    event.preventDefault()
    setAttempts(attempts + 1)
    if (Object.keys(validate(draft, options)).length > 0) return
    if (isExperiment(draft)) {
      startExperiment.mutate(toExperiment(draft, options), {
        onSuccess: (queued) => router.history.push(address('/app/experiments/{id}', { id: queued.experiment_id })),
      })
      return
    }
    startRun.mutate(toTrigger(draft, options), {
      onSuccess: (queued) => void navigate({ to: '/app/runs/$jobId', params: { jobId: queued.job_id } }),
    })
  }
  const body = Object.keys(validate(draft, options)).length > 0 ? null : toExperiment(draft, options)

  return (
    <form className="sheet-form" onSubmit={send} noValidate ref={form}>
      <div className="sheet-head">
        <h2 className="grow">{t('new.title')}</h2>
        <button type="button" className="button plain" aria-label={t('action.close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div className="sheet-body">
        {start.error && rejectedField === null && <Failed error={start.error} />}
        <div className={css.presets} role="group" aria-label={t('preset.title')}>
          {PRESETS.map((name) => (
            <button key={name} type="button" className={css.preset} aria-pressed={preset === name} onClick={() => applyPreset(name)}>
              <b>{t(`preset.${name}`)}</b>
              <span>{t(`preset.${name}.what`)}</span>
            </button>
          ))}
        </div>
        <Field name="dataset" label={t('new.dataset')} error={fieldError('dataset')} hint={dataset ? format.span(dataset.first_day, dataset.last_day) : undefined}>
          {(attributes) => (
            <select
              className="select"
              {...attributes}
              value={draft.dataset}
              onChange={(event) => {
                const next = options.datasets.find((one) => one.name === event.target.value)
                change({ dataset: event.target.value, symbols: defaultSymbols(next), universe: '', benchmark: defaultBenchmark(options, next), ...defaultSpan(next) })
              }}
            >
              {options.datasets.map((one) => (
                <option key={one.hash}>{one.name}</option>
              ))}
            </select>
          )}
        </Field>
        {dataset && dataset.universes.length > 0 && (
          <Field name="universe" label={t('new.universe')} error={fieldError('universe')} hint={draft.universe ? t('new.universe.hint') : undefined}>
            {(attributes) => (
              <select className="select" {...attributes} value={draft.universe} onChange={(event) => change({ universe: event.target.value })}>
                <option value="">{t('new.universe.symbols')}</option>
                {dataset.universes.map((index) => (
                  <option key={index}>{index}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        {draft.universe === '' && <Symbols dataset={dataset} draft={draft} error={fieldError('symbols')} onChange={(symbols) => change({ symbols })} />}
        <div className="fields">
          <Field name="start_date" label={t('new.start')} error={fieldError('start_date')} hint={isExperiment(draft) ? undefined : t('new.start.hint')}>
            {(attributes) => <input className="input" {...attributes} type="date" min={dataset?.first_day ?? undefined} max={dataset?.last_day ?? undefined} value={draft.start} onChange={(event) => change({ start: event.target.value })} />}
          </Field>
          <Field name="end_date" label={t('new.end')} error={fieldError('end_date')}>
            {(attributes) => <input className="input" {...attributes} type="date" min={dataset?.first_day ?? undefined} max={dataset?.last_day ?? undefined} value={draft.end} onChange={(event) => change({ end: event.target.value })} />}
          </Field>
        </div>
        <div data-field="agents">
          <AgentFields agents={draft.agents} options={options} error={fieldError('agents')} onChange={(agents) => change({ agents })} />
        </div>
        <div className="fields">
          <Field name="initial_cash" label={t('new.cash')} error={fieldError('initial_cash')}>
            {(attributes) => <input className="input" {...attributes} inputMode="decimal" value={draft.cash} onChange={(event) => change({ cash: event.target.value })} />}
          </Field>
          <Field name="budget" label={t('new.budget')} error={fieldError('budget')} hint={t('new.budget.hint')}>
            {(attributes) => <input className="input" {...attributes} inputMode="decimal" placeholder={t('new.budget.none')} value={draft.budgetUsd} onChange={(event) => change({ budgetUsd: event.target.value })} />}
          </Field>
          <Field name="trials" label={t('new.trials')} error={fieldError('trials')} hint={t('new.trials.hint')}>
            {(attributes) => <input className="input" {...attributes} inputMode="numeric" value={draft.trials} onChange={(event) => change({ trials: event.target.value })} />}
          </Field>
        </div>
        <details open={advancedOpen} onToggle={(event) => setExpanded(event.currentTarget.open)}>
          <summary className="second">{t('new.more')}</summary>
          <div className={`stack ${css.moreFields}`}>
            <div className="fields">
              <Field name="market" label={t('new.market')} error={fieldError('market')} hint={marketHint(t, options, draft.market || (dataset?.market ?? options.defaults.market))}>
                {(attributes) => (
                  <select className="select" {...attributes} value={draft.market} onChange={(event) => change({ market: event.target.value })}>
                    <option value="">{t('new.market.own', { market: dataset?.market ?? options.defaults.market })}</option>
                    {options.markets.map((one) => (
                      <option key={one.name}>{one.name}</option>
                    ))}
                  </select>
                )}
              </Field>
              <Field name="costs" label={t('new.costs')} hint={t('new.costs.hint')}>
                {(attributes) => <Select {...attributes} value={draft.costs} choices={COSTS.map((value) => ({ value, label: t(`new.costs.${value}`) }))} onChange={(costs) => change({ costs })} />}
              </Field>
              <Field name="windows" label={t('new.windows')} error={fieldError('windows')} hint={t('new.windows.hint')}>
                {(attributes) => <input className="input" {...attributes} placeholder="2x60d" value={draft.windows} onChange={(event) => change({ windows: event.target.value })} />}
              </Field>
              <Field name="benchmark" label={t('new.benchmark')} error={fieldError('benchmark')} hint={t('new.benchmark.hint')}>
                {(attributes) => (
                  <select className="select" {...attributes} value={draft.benchmark} onChange={(event) => change({ benchmark: event.target.value })}>
                    {/* With a configured benchmark, the server ignores an empty choice. */}
                    {defaultBenchmark(options, dataset) === '' && <option value="">{t('new.benchmark.none')}</option>}
                    {benchmarksOf(dataset).map((one) => (
                      <option key={one}>{one}</option>
                    ))}
                  </select>
                )}
              </Field>
              <Field name="memory" label={t('new.memory')} error={fieldError('memory')}>
                {(attributes) => <Select {...attributes} value={draft.memory} choices={MEMORIES.map((value) => ({ value, label: t(MEMORY_TEXTS[value]) }))} onChange={(memory) => change({ memory })} />}
              </Field>
              <Field name="seed" label={t('new.seed')} error={fieldError('seed')}>
                {(attributes) => <input className="input" {...attributes} inputMode="numeric" value={draft.seed} onChange={(event) => change({ seed: event.target.value })} />}
              </Field>
            </div>
            <label className="check">
              <input type="checkbox" checked={draft.summaries} onChange={(event) => change({ summaries: event.target.checked })} />
              {t('new.summaries')}
            </label>
            <Field name="done" label={t('new.done')}>
              {(attributes) => <Select {...attributes} value={draft.done} choices={DONE.map((value) => ({ value, label: t(`new.done.${value}`) }))} onChange={(done) => change({ done })} />}
            </Field>
          </div>
        </details>
        <EstimatePanel body={draft.start === '' ? null : body} />
        <RunCommand body={body} curl={toCurl(draft, options, location.origin)} />
        <p className="hint quiet">{t('new.baselines', { names: options.baselines.map((name) => textOr(t, `baseline.${name}`, name)).join(', ') })}</p>
      </div>
      <div className="sheet-foot">
        <button type="button" className="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        <button type="submit" className="button primary" disabled={start.isPending}>
          {start.isPending ? t('new.starting') : t(isExperiment(draft) ? 'new.start.experiment' : 'new.start.run')}
        </button>
      </div>
    </form>
  )
}

function errorText(t: Translate, errors: FieldErrors, field: FieldName, draft: Draft, options: Options): string | undefined {
  const why = errors[field]
  const dataset = options.datasets.find((one) => one.name === draft.dataset)
  if (why === 'unknown') return t('new.wrong.unknown', { symbols: unknownSymbols(draft, dataset).join(', ') })
  return why ? t(`new.wrong.${why}`, { max: options.max_rounds }) : undefined
}

/** The rules of a market in one line. */
function marketHint(t: Translate, options: Options, name: string): string | undefined {
  const market = options.markets.find((one) => one.name === name)
  if (!market) return undefined
  const parts = [market.fractional ? t('market.fractional') : t('market.lot', { lot: market.lot })]
  if (market.t_plus_one) parts.push('T+1')
  if (market.shorting) parts.push(t('market.short'))
  if (market.max_leverage > 1) parts.push(`×${market.max_leverage}`)
  return parts.join(' · ')
}

interface InputAttributes {
  'aria-invalid'?: true
  'aria-describedby'?: string
}

interface FieldProps {
  name: FieldName
  label: string
  error?: string | undefined
  hint?: string | undefined
  children: (attributes: InputAttributes) => ReactNode
}

function Field({ name, label, error, hint, children }: FieldProps) {
  const id = `new-${name}-hint`
  const attributes: InputAttributes = { ...(error && { 'aria-invalid': true as const }), ...((error || hint) && { 'aria-describedby': id }) }
  return (
    <div data-field={name}>
      <label className="field">
        <span>{label}</span>
        {children(attributes)}
      </label>
      {error ? (
        <span className="wrong" role="alert" id={id}>
          {error}
        </span>
      ) : (
        hint && (
          <span className="hint" id={id}>
            {hint}
          </span>
        )
      )}
    </div>
  )
}

interface SymbolsProps {
  dataset: DatasetOption | undefined
  draft: Draft
  error?: string | undefined
  onChange: (symbols: string) => void
}

/** Up to forty symbols are checkboxes; more are typed, with suggestions. */
function Symbols({ dataset, draft, error, onChange }: SymbolsProps) {
  const t = useText()
  const all = dataset?.symbols ?? []
  const chosen = symbolsOf(draft, dataset)
  if (all.length > 40) {
    const typed = (/[^\s,]*$/.exec(draft.symbols)?.[0] ?? '').toUpperCase()
    const matching = typed === '' ? [] : all.filter((one) => one.toUpperCase().startsWith(typed) && !chosen.includes(one)).slice(0, 8)
    const complete = (symbol: string) => onChange(`${draft.symbols.slice(0, draft.symbols.length - typed.length)}${symbol}, `)
    return (
      <div className="stack">
        <Field name="symbols" label={t('new.symbols')} error={error} hint={t('new.symbols.hint', { count: all.length })}>
          {(attributes) => <input className="input" {...attributes} value={draft.symbols} spellCheck={false} onChange={(event) => onChange(event.target.value)} />}
        </Field>
        {matching.length > 0 && (
          <div className="row wrap">
            {matching.map((symbol) => (
              <button key={symbol} type="button" className="button small" onClick={() => complete(symbol)}>
                {symbol}
              </button>
            ))}
          </div>
        )}
      </div>
    )
  }
  return (
    <fieldset className="field" data-field="symbols">
      <legend>{t('new.symbols')}</legend>
      <div className="row wrap">
        {all.map((symbol) => (
          <label key={symbol} className="chip">
            <input
              type="checkbox"
              checked={chosen.includes(symbol)}
              onChange={(event) => onChange((event.target.checked ? all.filter((one) => one === symbol || chosen.includes(one)) : chosen.filter((one) => one !== symbol)).join(', '))}
            />
            {symbol}
          </label>
        ))}
      </div>
      {error && (
        <span className="wrong" role="alert">
          {error}
        </span>
      )}
    </fieldset>
  )
}
