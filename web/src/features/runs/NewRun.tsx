// Starts a run by a form. What the server refuses stands beside its field.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, type ReactNode, useState } from 'react'
import { ApiError } from '@/server/client'
import { datasets } from '@/server/queries'
import type { Dataset } from '@/server/types'
import { useStartRun } from '@/server/writes'
import { type TextKey, useLanguage, useText } from '@/shared/i18n'
import { Dialog } from '@/shared/ui/dialog'
import { Icon } from '@/shared/ui/icons'
import { Command, Empty, Failed, Loading, Note } from '@/shared/ui/states'
import { AgentFields } from './AgentFields'
import { check, type Draft, emptyDraft, type FieldName, toCommand, toTrigger, usualSpan, usualSymbols, type Wrong } from './form'

export function NewRun({ onClose }: { onClose: () => void }) {
  const t = useText()
  const found = useQuery(datasets())
  const there = found.data?.filter((dataset) => !dataset.replaced) ?? []
  return (
    <Dialog className="sheet" label={t('new.title')} onClose={onClose}>
      {found.isPending && <Loading />}
      {found.error && (
        <div className="panel-body">
          <Failed error={found.error} retry={() => void found.refetch()} />
        </div>
      )}
      {found.data && there.length === 0 && <Empty title={t('data.empty')} command="papertape data import FILE… --name NAME" />}
      {there.length > 0 && <Form datasets={there} onClose={onClose} />}
    </Dialog>
  )
}

function Form({ datasets: there, onClose }: { datasets: Dataset[]; onClose: () => void }) {
  const t = useText()
  const language = useLanguage()
  const navigate = useNavigate()
  const start = useStartRun()
  const [draft, setDraft] = useState<Draft>(() => emptyDraft(there[0], language))
  const [tried, setTried] = useState(false)
  const dataset = there.find((one) => one.name === draft.dataset) ?? there[0]
  const wrong = tried ? check(draft) : {}
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }))
  const refused = start.error instanceof ApiError ? start.error : null
  const refusedField = refused?.field?.replace(/[.[].*$/, '') ?? null
  const said = (field: FieldName) => says(t, wrong, field) ?? (refusedField === field ? refused?.message : undefined)
  const known: (string | null)[] = ['dataset', 'symbols', 'start_date', 'end_date', 'agents', 'initial_cash', 'budget', 'seed']

  const send = (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (Object.keys(check(draft)).length > 0) return
    start.mutate(toTrigger(draft), {
      onSuccess: (queued) => void navigate({ to: '/app/runs/$jobId', params: { jobId: queued.job_id } }),
    })
  }

  return (
    <form className="sheet-form" onSubmit={send} noValidate>
      <div className="sheet-head">
        <h2 className="grow">{t('new.title')}</h2>
        <button type="button" className="button plain" aria-label={t('action.close')} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div className="sheet-body">
        {start.error && !known.includes(refusedField) && <Failed error={start.error} />}
        <Field label={t('new.dataset')} wrong={said('dataset')} hint={dataset ? `${dataset.first_day ?? ''} – ${dataset.last_day ?? ''}` : undefined}>
          <select
            className="select"
            value={draft.dataset}
            onChange={(event) => {
              const next = there.find((one) => one.name === event.target.value)
              change({ dataset: event.target.value, symbols: usualSymbols(next), ...usualSpan(next) })
            }}
          >
            {there.map((one) => (
              <option key={one.hash}>{one.name}</option>
            ))}
          </select>
        </Field>
        <Symbols dataset={dataset} chosen={draft.symbols} wrong={said('symbols')} onChange={(symbols) => change({ symbols })} />
        <div className="fields">
          <Field label={t('new.start')} wrong={said('start_date')} hint={t('new.start.hint')}>
            <input className="input" type="date" min={dataset?.first_day ?? undefined} max={dataset?.last_day ?? undefined} value={draft.start} onChange={(event) => change({ start: event.target.value })} />
          </Field>
          <Field label={t('new.end')} wrong={said('end_date')}>
            <input className="input" type="date" min={dataset?.first_day ?? undefined} max={dataset?.last_day ?? undefined} value={draft.end} onChange={(event) => change({ end: event.target.value })} />
          </Field>
        </div>
        <AgentFields agents={draft.agents} wrong={said('agents')} onChange={(agents) => change({ agents })} />
        <div className="fields">
          <Field label={t('new.cash')} wrong={said('initial_cash')}>
            <input className="input" inputMode="decimal" value={draft.cash} onChange={(event) => change({ cash: event.target.value })} />
          </Field>
          <Field label={t('new.budget')} wrong={said('budget')} hint={t('new.budget.hint')}>
            <input className="input" inputMode="decimal" placeholder={t('new.budget.none')} value={draft.budgetUsd} onChange={(event) => change({ budgetUsd: event.target.value })} />
          </Field>
        </div>
        <details>
          <summary className="second">{t('new.more')}</summary>
          <div className="stack more-fields">
            <div className="fields">
              <Field label={t('new.memory')}>
                <select className="select" value={draft.memory} onChange={(event) => change({ memory: event.target.value as Draft['memory'] })}>
                  <option value="all">{t('new.memory.all')}</option>
                  <option value="rounds+open">{t('new.memory.open')}</option>
                  <option value="rounds">{t('new.memory.rounds')}</option>
                  <option value="off">{t('new.memory.off')}</option>
                </select>
              </Field>
              <Field label={t('new.seed')} wrong={said('seed')}>
                <input className="input" inputMode="numeric" value={draft.seed} onChange={(event) => change({ seed: event.target.value })} />
              </Field>
            </div>
            <label className="check">
              <input type="checkbox" checked={draft.summaries} onChange={(event) => change({ summaries: event.target.checked })} />
              {t('new.summaries')}
            </label>
            <label className="check">
              <input type="checkbox" checked={draft.again} onChange={(event) => change({ again: event.target.checked })} />
              {t('new.again')}
            </label>
          </div>
        </details>
        <Note title={t('new.command')}>
          <Command text={toCommand(draft)} />
        </Note>
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

function says(t: (key: TextKey) => string, wrong: Wrong, field: FieldName): string | undefined {
  const why = wrong[field]
  return why ? t(`new.wrong.${why}`) : undefined
}

function Field({ label, wrong, hint, children }: { label: string; wrong?: string | undefined; hint?: string | undefined; children: ReactNode }) {
  return (
    <label className="field">
      <span>{label}</span>
      {children}
      {wrong ? (
        <span className="wrong" role="alert">
          {wrong}
        </span>
      ) : (
        hint && <span className="hint">{hint}</span>
      )}
    </label>
  )
}

interface SymbolsProps {
  dataset: Dataset | undefined
  chosen: string[]
  wrong?: string | undefined
  onChange: (symbols: string[]) => void
}

/** Up to forty are shown as boxes; of more, names are typed. */
function Symbols({ dataset, chosen, wrong, onChange }: SymbolsProps) {
  const t = useText()
  const all = dataset?.symbols ?? []
  if (all.length > 40) {
    return (
      <Field label={t('new.symbols')} wrong={wrong} hint={t('new.symbols.hint', { count: all.length })}>
        <input className="input" value={chosen.join(', ')} onChange={(event) => onChange(event.target.value.split(/[\s,]+/).filter(Boolean))} />
      </Field>
    )
  }
  return (
    <fieldset className="field">
      <legend>{t('new.symbols')}</legend>
      <div className="row wrap">
        {all.map((symbol) => (
          <label key={symbol} className="chip">
            <input
              type="checkbox"
              checked={chosen.includes(symbol)}
              onChange={(event) => onChange(event.target.checked ? all.filter((one) => one === symbol || chosen.includes(one)) : chosen.filter((one) => one !== symbol))}
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
