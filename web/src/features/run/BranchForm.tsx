// Starts a branch: a run that shares this run's steps up to a branch point.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useId, useState } from 'react'
import { branchCommand } from '@/server/commands'
import { options } from '@/server/queries'
import type { Branch, Job } from '@/server/types'
import { useBranch } from '@/server/writes'
import { useText } from '@/shared/i18n'
import { Dialog } from '@/shared/ui/dialog'
import { Icon } from '@/shared/ui/icons'
import { Command, Failed, Note } from '@/shared/ui/states'
import { useSettled } from '@/shared/useSettled'
import { cutsOf, exampleCuts } from './branch'

interface Props {
  job: Job
  /** The run's days, oldest first. */
  dates: string[]
  agent?: string | undefined
  date?: string | undefined
  node?: string | undefined
  onClose: () => void
}

export function BranchForm({ job, dates, agent: initialAgent, date: initialDate, node: initialNode, onClose }: Props) {
  const t = useText()
  const navigate = useNavigate()
  const branch = useBranch(job.job_id)
  const suggestions = useId()
  const offered = useQuery(options())
  const agents = job.simulation?.agents ?? []
  const symbols = job.simulation?.symbols ?? []
  const [agent, setAgent] = useState(initialAgent ?? agents[0]?.name ?? '')
  const [date, setDate] = useState(initialDate ?? dates[Math.floor(dates.length / 2)] ?? job.simulation?.start_date ?? '')
  const [node, setNode] = useState(initialNode ?? '')
  const [model, setModel] = useState('')
  const [instructions, setInstructions] = useState('')
  const [temperature, setTemperature] = useState('')
  const kind: string = agents.find((option) => option.name === agent)?.kind ?? 'solo'
  const isExternal = kind === 'external'
  const temperatureValue = Number(temperature)
  const invalid = !isExternal && temperature !== '' && !(temperatureValue >= 0 && temperatureValue <= 2)
  const unchanged = model.trim() === '' && instructions.trim() === '' && temperature === ''
  const body: Branch = {
    agent: agent || null,
    date,
    node: node.trim() || null,
    model: (!isExternal && model.trim()) || null,
    instructions: (!isExternal && instructions.trim()) || null,
    sampling: isExternal || temperature === '' || invalid ? null : { temperature: temperatureValue },
  }
  const command = useQuery(branchCommand(job.job_id, useSettled(date === '' || invalid ? null : JSON.stringify(body), 200))).data
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (date === '' || invalid) return
    branch.mutate(body, { onSuccess: (queued) => void navigate({ to: '/app/runs/$jobId', params: { jobId: queued.job_id }, search: {} }) })
  }
  return (
    <Dialog className="sheet" label={t('branch.title')} onClose={onClose}>
      <form className="sheet-form" onSubmit={submit} noValidate>
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
                {agents.map((option) => (
                  <option key={option.name}>{option.name}</option>
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
            <input className="input mono" list={suggestions} value={node} placeholder={t('branch.node.whole')} onChange={(event) => setNode(event.target.value)} />
            <span className="hint">{t('branch.node.hint', { examples: exampleCuts(kind, symbols) })}</span>
            <datalist id={suggestions}>
              {cutsOf(offered.data?.nodes ?? [], kind, symbols).map((suggestion) => (
                <option key={suggestion} value={suggestion} />
              ))}
            </datalist>
          </label>
          <h3>{t('branch.change')}</h3>
          {isExternal ? (
            <p className="second">{t('branch.external')}</p>
          ) : (
            <>
              <div className="fields">
                <label className="field">
                  <span>{t('new.model')}</span>
                  <input className="input mono" value={model} placeholder={agents.find((option) => option.name === agent)?.model ?? 'provider::model'} onChange={(event) => setModel(event.target.value)} />
                </label>
                <label className="field">
                  <span>{t('branch.temperature')}</span>
                  <input className="input" inputMode="decimal" value={temperature} placeholder={t('branch.as.before')} aria-invalid={invalid || undefined} onChange={(event) => setTemperature(event.target.value)} />
                  {invalid && (
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
              {unchanged && <p className="hint quiet">{t('branch.nothing')}</p>}
            </>
          )}
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
