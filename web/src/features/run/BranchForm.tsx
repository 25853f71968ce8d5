// A run that shares this one's past up to a cut, and does something else from there.
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useId, useState } from 'react'
import type { Branch, Job } from '@/server/types'
import { useBranch } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Dialog } from '@/shared/ui/dialog'
import { Icon } from '@/shared/ui/icons'
import { Command, Failed, Note } from '@/shared/ui/states'
import { placesOf, toBranchCommand } from './branch'

interface Props {
  job: Job
  /** The run's days, oldest first. */
  dates: string[]
  agent?: string | undefined
  date?: string | undefined
  node?: string | undefined
  onClose: () => void
}

export function BranchForm({ job, dates, agent: first, date: begins, node: at, onClose }: Props) {
  const t = useText()
  const navigate = useNavigate()
  const branch = useBranch(job.job_id)
  const places = useId()
  const agents = job.simulation?.agents ?? []
  const [agent, setAgent] = useState(first ?? agents[0]?.name ?? '')
  const [date, setDate] = useState(begins ?? dates[Math.floor(dates.length / 2)] ?? job.simulation?.start_date ?? '')
  const [node, setNode] = useState(at ?? '')
  const [model, setModel] = useState('')
  const [instructions, setInstructions] = useState('')
  const [temperature, setTemperature] = useState('')
  const degrees = Number(temperature)
  const wrong = temperature !== '' && !(degrees >= 0 && degrees <= 2)
  const nothing = model.trim() === '' && instructions.trim() === '' && temperature === ''
  const body: Branch = {
    agent: agent || null,
    date,
    node: node.trim() || null,
    model: model.trim() || null,
    instructions: instructions.trim() || null,
    sampling: temperature === '' || wrong ? null : { temperature: degrees },
  }
  const command = toBranchCommand(job.job_id, body)
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (date === '' || wrong) return
    branch.mutate(body, { onSuccess: (queued) => void navigate({ to: '/app/runs/$jobId', params: { jobId: queued.job_id }, search: {} }) })
  }
  return (
    <Dialog className="sheet" label={t('branch.title')} onClose={onClose}>
      <form className="sheet-form" onSubmit={send} noValidate>
        <div className="sheet-head">
          <h2 className="grow">{t('branch.title')}</h2>
          <button type="button" className="button plain" aria-label={t('action.close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
        <div className="sheet-body">
          <p className="second">{t('branch.what')}</p>
          {branch.error && <Failed error={branch.error} />}
          <h3>{t('branch.cut')}</h3>
          <div className="fields">
            <label className="field">
              <span>{t('runs.agent')}</span>
              <select className="select" value={agent} onChange={(event) => setAgent(event.target.value)}>
                {agents.map((one) => (
                  <option key={one.name}>{one.name}</option>
                ))}
              </select>
            </label>
            <label className="field">
              <span>{t('word.day')}</span>
              <input className="input" type="date" required min={dates[0]} max={dates[dates.length - 1]} value={date} onChange={(event) => setDate(event.target.value)} />
            </label>
          </div>
          <label className="field">
            <span>{t('branch.node')}</span>
            <input className="input mono" list={places} value={node} placeholder={t('branch.node.whole')} onChange={(event) => setNode(event.target.value)} />
            <span className="hint">{t('branch.node.hint')}</span>
            <datalist id={places}>
              {placesOf(job.simulation?.symbols ?? [], agent).map((place) => (
                <option key={place} value={place} />
              ))}
            </datalist>
          </label>
          <h3>{t('branch.change')}</h3>
          <div className="fields">
            <label className="field">
              <span>{t('new.model')}</span>
              <input className="input mono" value={model} placeholder={agents.find((one) => one.name === agent)?.model ?? 'provider::model'} onChange={(event) => setModel(event.target.value)} />
            </label>
            <label className="field">
              <span>{t('branch.temperature')}</span>
              <input className="input" inputMode="decimal" value={temperature} placeholder={t('branch.as.before')} aria-invalid={wrong || undefined} onChange={(event) => setTemperature(event.target.value)} />
              {wrong && (
                <span className="wrong" role="alert">
                  {t('branch.temperature.wrong')}
                </span>
              )}
            </label>
          </div>
          <label className="field">
            <span>{t('branch.instructions')}</span>
            <textarea className="input" rows={4} value={instructions} placeholder={t('branch.as.before')} onChange={(event) => setInstructions(event.target.value)} />
          </label>
          {nothing && <p className="hint quiet">{t('branch.nothing')}</p>}
          {command && (
            <Note title={t('new.command')}>
              <Command text={command} />
            </Note>
          )}
        </div>
        <div className="sheet-foot">
          <button type="button" className="button" onClick={onClose}>
            {t('action.cancel')}
          </button>
          <button type="submit" className="button primary" disabled={branch.isPending || date === ''}>
            <Icon name="branch" />
            {branch.isPending ? t('new.starting') : t('branch.start')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
