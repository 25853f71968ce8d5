// The head of a run: its name, state, usage, agents, labels and controls.
import { Link } from '@tanstack/react-router'
import type { Job } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { runTitle } from '@/shared/runTitle'
import { tradedOf } from '@/shared/symbols'
import { AgentKinds } from '@/shared/ui/agentKinds'
import { MaskedTag } from '@/shared/ui/evidenceMarks'
import { Icon } from '@/shared/ui/icons'
import { StatusMark, Tag } from '@/shared/ui/parts'
import { JobQualityTag, useCost } from '@/shared/ui/quality'
import { Controls } from './Controls'
import { RunLabels } from './RunLabels'

interface HeadProps {
  job: Job
  connection: string
  stopping: boolean
  onBranch: () => void
  onDeleted: () => void
}

export function RunHead({ job, connection, stopping, onBranch, onDeleted }: HeadProps) {
  const t = useText()
  const format = useFormat()
  const cost = useCost()
  const simulation = job.simulation
  const { total_model_days: total, completed, skipped } = job.progress
  return (
    <div className="page-head">
      <div className="grow">
        <div className="crumbs">
          <Link to="/app/runs">{t('nav.runs')}</Link>
          <span>/</span>
          <span className="mono">{job.job_id}</span>
        </div>
        <h1 title={simulation?.symbols.join(', ')}>
          {runTitle(job, t)}{' '}
          {simulation && <span className="second tnum title-span">{format.span(simulation.start_date, simulation.end_date)}</span>}
        </h1>
        <div className="facts">
          <StatusMark status={job.status} />
          {job.labels.name && simulation && <span>{tradedOf(simulation, t)}</span>}
          {connection === 'live' && <span className="live">{t('live.on')}</span>}
          {(connection === 'connecting' || connection === 'updating') && <span className="quiet">{t('live.updating')}</span>}
          <span className="tnum">{t('runs.days.of', { done: completed + skipped, total })}</span>
          <JobQualityTag quality={job.quality} />
          <span
            className="tnum"
            title={job.usage.estimated_calls > 0 ? t('run.estimated', { count: job.usage.estimated_calls }) : undefined}
          >
            {job.usage.estimated_calls > 0 && '~ '}
            {t('run.usage', {
              input: format.compact(job.usage.input_tokens),
              output: format.compact(job.usage.output_tokens),
              cost: cost(job.usage),
            })}
          </span>
          {job.total_duration_seconds != null && <span className="tnum">{format.duration(job.total_duration_seconds)}</span>}
          {simulation && <AgentKinds agents={simulation.agents} />}
          <MaskedTag masked={simulation?.masked} />
          {simulation?.imported && <Tag>{t('run.imported')}</Tag>}
          {simulation?.branch && (
            <Link to="/app/runs/$jobId" params={{ jobId: simulation.branch.job_id }} className="tag">
              <Icon name="branch" />
              {t('run.branch.of', { date: format.day(simulation.branch.date), at: simulation.branch.at })}
            </Link>
          )}
        </div>
        <RunLabels job={job} />
      </div>
      <Controls job={job} stopping={stopping} onBranch={onBranch} onDeleted={onDeleted} />
    </div>
  )
}
