// Columns of a board's file that its table shows as names and marks.
import type { LeaderboardEntry } from '@/server/types'
import type { CsvValue } from '@/shared/csv'

type FileColumns = Record<string, (entry: LeaderboardEntry) => CsvValue>

/** What an entry is, its runs, and what qualifies them. Lists are separated by spaces. */
export const ENTRY_FILE: FileColumns = {
  entry: (entry) => entry.label,
  kind: (entry) => entry.kind,
  agent: (entry) => entry.agent,
  models: (entry) => entry.models.join(' '),
  is_llm: (entry) => entry.is_llm,
  configuration: (entry) => entry.configuration,
  job_ids: (entry) => entry.job_ids.join(' '),
  experiment_ids: (entry) => entry.experiment_ids.join(' '),
  point_in_time: (entry) => entry.point_in_time,
  point_in_time_reason: (entry) => entry.point_in_time_reason?.kind,
  insolvent_on: (entry) => entry.insolvent_on,
  interim: (entry) => entry.interim,
  mask: (entry) => entry.mask,
  imported_from: (entry) => entry.imported_from,
  training_cutoffs: (entry) => entry.training_cutoffs.map(({ model, status, date }) => `${model}=${date ?? status}`).join(' '),
  days_before_cutoff: (entry) => daysBeforeCutoff(entry),
}

export const QUALITY_FILE: FileColumns = {
  model_days: (entry) => entry.quality?.model_days,
  degraded_days: (entry) => entry.quality?.degraded_days,
  degraded_share: (entry) => entry.quality?.degraded_share,
  no_decision_days: (entry) => entry.quality?.no_decision_days,
  failed_days: (entry) => entry.quality?.failed_days,
}

/** Of the model with the most such days. Empty if the cut-off of any model is unknown. */
function daysBeforeCutoff({ training_cutoffs: cutoffs }: LeaderboardEntry): CsvValue {
  const days = cutoffs.map((one) => one.days_before)
  return days.length === 0 || days.some((one) => one == null) ? null : Math.max(...days.map(Number))
}
