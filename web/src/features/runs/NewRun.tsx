// Starts a run by a form. What can be chosen comes from the server; what it refuses stands beside its field.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { ApiError } from '@/server/client'
import { options as optionsQuery } from '@/server/queries'
import type { DatasetOption, Options } from '@/server/types'
import { useStartRun } from '@/server/writes'
import { useFormat } from '@/shared/format'
import { type TextKey, type Translate, useLanguage, useText } from '@/shared/i18n'
import { Dialog } from '@/shared/ui/dialog'
import { Icon } from '@/shared/ui/icons'
import { Command, Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { AgentFields } from './AgentFields'
import { benchmarksOf, check, type Draft, emptyDraft, fieldOf, type FieldName, FIELDS, FOLDED, symbolsOf, toCommand, toTrigger, unknownSymbols, usualBenchmark, usualSpan, usualSymbols, type Wrong } from './form'

export function NewRun({ onClose }: { onClose: () => void }) {
  const t = useText()
  const found = useQuery(optionsQuery())
  return (
    <Dialog className="sheet" label={t('new.title')} onClose={onClose}>
      {found.isPending && <Loading />}
      {found.error && (
        <div className="panel-body">
          <Failed error={found.error} retry={() => void found.refetch()} />
        </div>
      )}
      {found.data && found.data.datasets.length === 0 && <Empty title={t('data.empty')} command="papertape data import FILE… --name NAME" />}
      {found.data && found.data.datasets.length > 0 && <Form options={found.data} onClose={onClose} />}
    </Dialog>
  )
}

function Form({ options, onClose }: { options: Options; onClose: () => void }) {
  const t = useText()
  const format = useFormat()
  const language = useLanguage()
  const navigate = useNavigate()
  const start = useStartRun()
  const form = useRef<HTMLFormElement>(null)
  const [draft, setDraft] = useState<Draft>(() => emptyDraft(options, language))
  const [tried, setTried] = useState(0)
  const [unfolded, setUnfolded] = useState(false)
  const dataset = options.datasets.find((one) => one.name === draft.dataset)
  const wrong = tried > 0 ? check(draft, options) : {}
  const refused = start.error instanceof ApiError ? start.error : null
  const refusedField = fieldOf(refused?.field ?? null)
  const change = (part: Partial<Draft>) => {
    setDraft((now) => ({ ...now, ...part }))
    if (start.error) start.reset()
  }
  const said = (field: FieldName) => says(t, wrong, field, draft, dataset) ?? (refusedField === field ? refused?.message.replace(/^[^:]+: /, '') : undefined)
  const first = FIELDS.find((field) => said(field) !== undefined)
  const opens = unfolded || FOLDED.some((field) => said(field) !== undefined)
  // Who sends what is wrong is led to the first place that is.
  useEffect(() => {
    if (first === undefined || (tried === 0 && !refused)) return
    const place = form.current?.querySelector<HTMLElement>(`[data-field="${first}"]`)
    const input = place?.querySelector<HTMLElement>('[aria-invalid]') ?? place?.querySelector<HTMLElement>('input, select')
    input?.focus()
    place?.scrollIntoView({ block: 'nearest' })
    // Once for each time that it is sent or refused.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [tried, refused])

  const send = (event: FormEvent) => {
    event.preventDefault()
    setTried(tried + 1)
    if (Object.keys(check(draft, options)).length > 0) return
    start.mutate(toTrigger(draft, options), {
      onSuccess: (queued) => void navigate({ to: '/app/runs/$jobId', params: { jobId: queued.job_id } }),
    })
  }
  const command = toCommand(draft, options)

  return (
    <form className="sheet-form" onSubmit={send} noValidate ref={form}>
      <div className="sheet-head">
        <h2 className="grow">{t('new.title')}</h2>
        <button type="button" className="button plain" aria-label={t('action.close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div className="sheet-body">
        {start.error && refusedField === null && <Failed error={start.error} />}
        <Field name="dataset" label={t('new.dataset')} wrong={said('dataset')} hint={dataset ? format.span(dataset.first_day, dataset.last_day) : undefined}>
          {(tied) => (
            <select
              className="select"
              {...tied}
              value={draft.dataset}
              onChange={(event) => {
                const next = options.datasets.find((one) => one.name === event.target.value)
                change({ dataset: event.target.value, symbols: usualSymbols(next), universe: '', benchmark: usualBenchmark(options, next), ...usualSpan(next) })
              }}
            >
              {options.datasets.map((one) => (
                <option key={one.hash}>{one.name}</option>
              ))}
            </select>
          )}
        </Field>
        {dataset && dataset.universes.length > 0 && (
          <Field name="universe" label={t('new.universe')} wrong={said('universe')} hint={draft.universe ? t('new.universe.hint') : undefined}>
            {(tied) => (
              <select className="select" {...tied} value={draft.universe} onChange={(event) => change({ universe: event.target.value })}>
                <option value="">{t('new.universe.symbols')}</option>
                {dataset.universes.map((index) => (
                  <option key={index}>{index}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        {draft.universe === '' && <Symbols dataset={dataset} draft={draft} wrong={said('symbols')} onChange={(symbols) => change({ symbols })} />}
        <div className="fields">
          <Field name="start_date" label={t('new.start')} wrong={said('start_date')} hint={t('new.start.hint')}>
            {(tied) => <input className="input" {...tied} type="date" min={dataset?.first_day ?? undefined} max={dataset?.last_day ?? undefined} value={draft.start} onChange={(event) => change({ start: event.target.value })} />}
          </Field>
          <Field name="end_date" label={t('new.end')} wrong={said('end_date')}>
            {(tied) => <input className="input" {...tied} type="date" min={dataset?.first_day ?? undefined} max={dataset?.last_day ?? undefined} value={draft.end} onChange={(event) => change({ end: event.target.value })} />}
          </Field>
        </div>
        <div data-field="agents">
          <AgentFields agents={draft.agents} options={options} wrong={said('agents')} onChange={(agents) => change({ agents })} />
        </div>
        <div className="fields">
          <Field name="initial_cash" label={t('new.cash')} wrong={said('initial_cash')}>
            {(tied) => <input className="input" {...tied} inputMode="decimal" value={draft.cash} onChange={(event) => change({ cash: event.target.value })} />}
          </Field>
          <Field name="budget" label={t('new.budget')} wrong={said('budget')} hint={t('new.budget.hint')}>
            {(tied) => <input className="input" {...tied} inputMode="decimal" placeholder={t('new.budget.none')} value={draft.budgetUsd} onChange={(event) => change({ budgetUsd: event.target.value })} />}
          </Field>
        </div>
        <details open={opens} onToggle={(event) => setUnfolded(event.currentTarget.open)}>
          <summary className="second">{t('new.more')}</summary>
          <div className="stack more-fields">
            <div className="fields">
              <Field name="market" label={t('new.market')} wrong={said('market')} hint={marketHint(t, options, draft.market || (dataset?.market ?? options.defaults.market))}>
                {(tied) => (
                  <select className="select" {...tied} value={draft.market} onChange={(event) => change({ market: event.target.value })}>
                    <option value="">{t('new.market.own', { market: dataset?.market ?? options.defaults.market })}</option>
                    {options.markets.map((one) => (
                      <option key={one.name}>{one.name}</option>
                    ))}
                  </select>
                )}
              </Field>
              <Field name="costs" label={t('new.costs')} hint={t('new.costs.hint')}>
                {(tied) => (
                  <select className="select" {...tied} value={draft.costs} onChange={(event) => change({ costs: event.target.value as Draft['costs'] })}>
                    <option value="market">{t('new.costs.market')}</option>
                    <option value="frictionless">{t('new.costs.frictionless')}</option>
                  </select>
                )}
              </Field>
              <Field name="benchmark" label={t('new.benchmark')} wrong={said('benchmark')} hint={t('new.benchmark.hint')}>
                {(tied) => (
                  <select className="select" {...tied} value={draft.benchmark} onChange={(event) => change({ benchmark: event.target.value })}>
                    {/* Without a choice the configured one is taken. */}
                    {usualBenchmark(options, dataset) === '' && <option value="">{t('new.benchmark.none')}</option>}
                    {benchmarksOf(dataset).map((one) => (
                      <option key={one}>{one}</option>
                    ))}
                  </select>
                )}
              </Field>
              <Field name="memory" label={t('new.memory')} wrong={said('memory')}>
                {(tied) => (
                  <select className="select" {...tied} value={draft.memory} onChange={(event) => change({ memory: event.target.value as Draft['memory'] })}>
                    <option value="all">{t('new.memory.all')}</option>
                    <option value="rounds+open">{t('new.memory.open')}</option>
                    <option value="rounds">{t('new.memory.rounds')}</option>
                    <option value="off">{t('new.memory.off')}</option>
                  </select>
                )}
              </Field>
              <Field name="seed" label={t('new.seed')} wrong={said('seed')}>
                {(tied) => <input className="input" {...tied} inputMode="numeric" value={draft.seed} onChange={(event) => change({ seed: event.target.value })} />}
              </Field>
            </div>
            <label className="check">
              <input type="checkbox" checked={draft.summaries} onChange={(event) => change({ summaries: event.target.checked })} />
              {t('new.summaries')}
            </label>
            <Field name="done" label={t('new.done')}>
              {(tied) => (
                <select className="select" {...tied} value={draft.done} onChange={(event) => change({ done: event.target.value as Draft['done'] })}>
                  <option value="skip">{t('new.done.skip')}</option>
                  <option value="degraded">{t('new.done.degraded')}</option>
                  <option value="all">{t('new.done.all')}</option>
                </select>
              )}
            </Field>
          </div>
        </details>
        <Note title={t('new.command')}>{command === null ? <p className="second">{t('new.command.none')}</p> : <Command text={command} />}</Note>
        <p className="hint quiet">{t('new.baselines', { names: options.baselines.map((name) => t(`baseline.${name as 'buy_and_hold'}`)).join(', ') })}</p>
      </div>
      <div className="sheet-foot">
        <button type="button" className="button" onClick={onClose}>
          {t('action.cancel')}
        </button>
        <button type="submit" className="button primary" disabled={start.isPending}>
          {start.isPending ? t('new.starting') : t('new.start.run')}
        </button>
      </div>
    </form>
  )
}

function says(t: Translate, wrong: Wrong, field: FieldName, draft: Draft, dataset: DatasetOption | undefined): string | undefined {
  const why = wrong[field]
  if (why === 'unknown') return t('new.wrong.unknown', { symbols: unknownSymbols(draft, dataset).join(', ') })
  return why ? t(`new.wrong.${why}` as TextKey) : undefined
}

/** What the rules of a market come to, in a line. */
function marketHint(t: Translate, options: Options, name: string): string | undefined {
  const market = options.markets.find((one) => one.name === name)
  if (!market) return undefined
  const parts = [market.fractional ? t('market.fractional') : t('market.lot', { lot: market.lot })]
  if (market.t_plus_one) parts.push('T+1')
  if (market.shorting) parts.push(t('market.short'))
  if (market.max_leverage > 1) parts.push(`×${market.max_leverage}`)
  return parts.join(' · ')
}

interface Tied {
  'aria-invalid'?: true
  'aria-describedby'?: string
}

interface FieldProps {
  name: FieldName
  label: string
  wrong?: string | undefined
  hint?: string | undefined
  children: (tied: Tied) => ReactNode
}

function Field({ name, label, wrong, hint, children }: FieldProps) {
  const id = `new-${name}-said`
  const tied: Tied = { ...(wrong && { 'aria-invalid': true as const }), ...((wrong || hint) && { 'aria-describedby': id }) }
  return (
    <div data-field={name}>
      <label className="field">
        <span>{label}</span>
        {children(tied)}
      </label>
      {wrong ? (
        <span className="wrong" role="alert" id={id}>
          {wrong}
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
  wrong?: string | undefined
  onChange: (symbols: string) => void
}

/** Up to forty are shown as boxes; of more, names are typed, and those that begin alike are offered. */
function Symbols({ dataset, draft, wrong, onChange }: SymbolsProps) {
  const t = useText()
  const all = dataset?.symbols ?? []
  const chosen = symbolsOf(draft, dataset)
  if (all.length > 40) {
    const typed = (/[^\s,]*$/.exec(draft.symbols)?.[0] ?? '').toUpperCase()
    const alike = typed === '' ? [] : all.filter((one) => one.toUpperCase().startsWith(typed) && !chosen.includes(one)).slice(0, 8)
    const take = (symbol: string) => onChange(`${draft.symbols.slice(0, draft.symbols.length - typed.length)}${symbol}, `)
    return (
      <div className="stack">
        <Field name="symbols" label={t('new.symbols')} wrong={wrong} hint={t('new.symbols.hint', { count: all.length })}>
          {(tied) => <input className="input" {...tied} value={draft.symbols} spellCheck={false} onChange={(event) => onChange(event.target.value)} />}
        </Field>
        {alike.length > 0 && (
          <div className="row wrap">
            {alike.map((symbol) => (
              <button key={symbol} type="button" className="button small" onClick={() => take(symbol)}>
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
      {wrong && (
        <span className="wrong" role="alert">
          {wrong}
        </span>
      )}
    </fieldset>
  )
}
