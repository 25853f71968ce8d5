// Exports a log as a file.
import type { LogEntry, LogJob } from '@/server/actions'

export function asJson(job: LogJob | null, logs: LogEntry[]): string {
  return `${JSON.stringify({ job, logs }, null, 2)}\n`
}

/** A line for each state of each action. */
export function asText(job: LogJob | null, logs: LogEntry[]): string {
  const head = job ? [`job ${job.job_id}`, `${job.kind} ${job.status}`, job.started_at ?? '', job.completed_at ?? ''] : []
  const lines = logs.map((entry) =>
    [String(entry.sequence).padStart(4), entry.created_at, entry.status.padEnd(9), `${entry.action_kind}/${entry.action_name}`, oneLine(entry.message)]
      .filter(Boolean)
      .join('  '),
  )
  return [head.filter(Boolean).join('  '), ...lines, ''].filter((line, index) => index > 0 || line !== '').join('\n')
}

function oneLine(text: string | null | undefined): string {
  return (text ?? '').replace(/\s+/g, ' ').trim()
}
