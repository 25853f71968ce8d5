// Cancel and resume all jobs of an experiment. A resume may set another limit.
import { useState } from 'react'
import { useExperimentControl } from '@/server/judging'
import { type Experiment, type ExperimentSummary, hasStopped, type LimitBody } from '@/server/types'
import { useText } from '@/shared/i18n'
import { Dialog } from '@/shared/ui/dialog'
import { Icon } from '@/shared/ui/icons'

interface Props {
  experiment: ExperimentSummary
  budget: Experiment['budget']
}

export function ExperimentControls({ experiment, budget }: Props) {
  const t = useText()
  const { cancel, resume } = useExperimentControl(experiment.experiment_id)
  const [resuming, setResuming] = useState(false)
  const error = cancel.error ?? resume.error
  const canResume = hasStopped(experiment.status) && experiment.completed_jobs < experiment.planned_jobs
  return (
    <>
      {!hasStopped(experiment.status) && (
        <button type="button" className="button" title={t('experiment.cancel.what')} disabled={cancel.isPending || cancel.isSuccess} onClick={() => cancel.mutate()}>
          <Icon name="stop" />
          {cancel.isPending || cancel.isSuccess ? t('run.stopping') : t('experiment.cancel')}
        </button>
      )}
      {canResume && (
        <button type="button" className="button" disabled={resume.isPending} onClick={() => setResuming(true)}>
          <Icon name="play" />
          {t('experiment.resume')}
        </button>
      )}
      {error && (
        <span className="down" role="alert">
          {error.message}
        </span>
      )}
      {resuming && (
        <ResumeDialog
          budget={budget}
          onClose={() => setResuming(false)}
          onResume={(limit) => {
            setResuming(false)
            cancel.reset()
            resume.mutate(limit)
          }}
        />
      )}
    </>
  )
}

interface ResumeProps {
  budget: Experiment['budget']
  onClose: () => void
  /** `null`: the limit stays. */
  onResume: (limit: LimitBody | null) => void
}

function ResumeDialog({ budget, onClose, onResume }: ResumeProps) {
  const t = useText()
  const [usd, setUsd] = useState(budget.usd == null ? '' : String(budget.usd))
  const [tokens, setTokens] = useState(budget.tokens == null ? '' : String(budget.tokens))
  const limit: LimitBody = { ...(usd !== '' && { usd: Number(usd) }), ...(tokens !== '' && { tokens: Number(tokens) }) }
  const isSame = (limit.usd ?? null) === (budget.usd ?? null) && (limit.tokens ?? null) === (budget.tokens ?? null)
  const isValid = [usd, tokens].every((text) => text === '' || Number(text) > 0)
  return (
    <Dialog className="modal" label={t('experiment.resume')} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          if (isValid) onResume(isSame ? null : limit)
        }}
      >
        <h2>{t('experiment.resume')}</h2>
        <p className="second">{t('experiment.resume.what')}</p>
        <div className="fields">
          <label className="field">
            <span>{t('experiment.budget.usd')}</span>
            <input className="input" type="number" min="0" step="any" value={usd} placeholder={t('experiment.budget.none')} onChange={(event) => setUsd(event.target.value)} />
          </label>
          <label className="field">
            <span>{t('experiment.budget.tokens')}</span>
            <input className="input" type="number" min="0" step="1" value={tokens} placeholder={t('experiment.budget.none')} onChange={(event) => setTokens(event.target.value)} />
          </label>
        </div>
        <div className="row end">
          <button type="button" className="button" onClick={onClose}>
            {t('action.cancel')}
          </button>
          <button type="submit" className="button primary" disabled={!isValid}>
            {t('experiment.resume')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
