import type { Job } from '@/server/types'
import type { Format } from './format'
import { textOr, type Translate } from './i18n'
import { tradedOf } from './symbols'

/** What a run is called: its name, or what it trades. */
export function runTitle(job: Job, t: Translate): string {
  return job.labels.name ?? (job.simulation ? tradedOf(job.simulation, t) : textOr(t, `kind.${job.kind}`, job.kind))
}

/** The title with the run's days, where several runs are listed or left. */
export function datedRunTitle(job: Job, format: Format, t: Translate): string {
  const title = runTitle(job, t)
  return job.simulation ? `${title} ${format.span(job.simulation.start_date, job.simulation.end_date)}` : title
}
