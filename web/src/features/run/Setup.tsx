import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { jobHead } from '@/server/queries'
import type { Job } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { tradedOf } from '@/shared/symbols'
import { HouseTag, Pairs } from '@/shared/ui/parts'
import { Empty } from '@/shared/ui/states'

/** The configuration of a run. */
export function Setup({ job }: { job: Job }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const simulation = job.simulation
  if (!simulation) return <Empty title={t('run.no.setup')} />
  const continues = Object.entries(simulation.continues)
  const branch = simulation.branch
  return (
    <div className="panel panel-body">
      <Pairs
        rows={[
          [t('setup.agents'), simulation.agents.map((agent) => (
            <div key={agent.name} className="row">
              {agent.name} <span className="quiet mono">{agent.model}</span> <HouseTag isLlm={agent.is_llm} />
            </div>
          ))],
          [t('setup.dataset'), (
            <Link key="dataset" to="/app/data" search={{ dataset: simulation.dataset.name }}>
              {simulation.dataset.name} <span className="mono quiet">{simulation.dataset.hash.slice(0, 12)}</span>
            </Link>
          )],
          [t('setup.span'), format.span(simulation.start_date, simulation.end_date)],
          simulation.universe ? [t('setup.universe'), tradedOf(simulation, t)] : [t('setup.symbols'), simulation.symbols.join(', ')],
          [t('setup.market'), word('market', simulation.market)],
          simulation.benchmark == null ? null : [t('setup.benchmark'), simulation.benchmark],
          [t('setup.cash'), format.money(simulation.initial_cash, simulation.market)],
          [t('setup.memory'), `${word('memory', simulation.memory)} · ${t('setup.window', { rounds: simulation.read_window, loss: simulation.read_window_after_loss })}`],
          simulation.memory_from ? [t('setup.memory.from'), <RunLink key="from" id={simulation.memory_from} />] : null,
          [t('setup.summaries'), simulation.summaries ? t('word.yes') : t('word.no')],
          [t('setup.seed'), String(simulation.seed)],
          ...continues.map(([model, from]): [string, ReactNode] => [t('setup.continues', { agent: model }), (
            <span key={model}>
              <RunLink id={from.job} /> {t('setup.until', { date: format.day(from.date) })}
            </span>
          )]),
          simulation.imported ? [t('setup.imported'), `${simulation.imported.source} (${simulation.imported.format}) · ${t('setup.imported.writer', { model: simulation.imported.writer })}`] : null,
          branch ? [t('run.branch'), (
            <span key="branch">
              <RunLink id={branch.job_id} /> · {format.day(branch.date)} · <code>{branch.at}</code>
            </span>
          )] : null,
          [t('setup.rules'), String(job.rules_version)],
          [t('setup.head'), <Head key="head" id={job.job_id} />],
          [t('setup.created'), format.instant(job.created_at)],
          [t('setup.started'), format.instant(job.started_at)],
          [t('setup.ended'), format.instant(job.completed_at)],
        ]}
      />
    </div>
  )
}

/** The chain head to publish, and the command that verifies a record against it. */
function Head({ id }: { id: string }) {
  const t = useText()
  const { data } = useQuery(jobHead(id))
  if (data === null) return <>{t('setup.head.broken')} <code>papertape verify {id}</code></>
  if (!data) return null
  return (
    <>
      <code>{data.hash}</code>
      <div className="quiet"><code>{data.verify}</code></div>
    </>
  )
}

function RunLink({ id }: { id: string }) {
  return (
    <Link to="/app/runs/$jobId" params={{ jobId: id }} className="mono">
      {id.slice(0, 13)}…
    </Link>
  )
}
