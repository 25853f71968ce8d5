import { useCallback, useEffect, useRef, useState } from 'react'
import type { LogEntry, LogJob } from './actions'
import { type JobLog, JobLogFollower, EMPTY_LOG, type Sources } from './jobLogFollower'
import { useServerState } from './health'
import { jobLogPage } from './jobLogPage'
import { readStream } from './stream'
import { hasStopped } from './types'
import { pause } from './wait'

export interface FollowedJobLog extends JobLog {
  loadOlder: () => void
  retry: () => void
  /** Every row, including older ones. */
  all: () => Promise<LogEntry[]>
}

/**
 * Follows a job's log: a snapshot with its cursor, then the stream. If the stream breaks, polls every five seconds
 * from the cursor, and at once when the server is back. Tries the stream again after each success, and gives up after five
 * failures in a row, until the server is back. When the job has ended, the log is read-only until the job runs again.
 */
export function useJobLog(
  jobId: string,
  initialJob?: LogJob | null,
  planId?: number | null,
  sources?: Partial<Sources>,
): FollowedJobLog {
  const [state, setState] = useState<JobLog>({ ...EMPTY_LOG, job: initialJob ?? null })
  const follower = useRef<JobLogFollower | null>(null)
  // A change of either must not restart the follower.
  const initial = useRef({ initialJob, sources })

  useEffect(() => {
    const defaults: Sources = {
      page: (query, signal) => jobLogPage(jobId, planId, query, signal),
      stream: (options) => readStream(jobId, options),
      wait: pause,
      ...initial.current.sources,
    }
    const created = new JobLogFollower(defaults, setState, initial.current.initialJob)
    follower.current = created
    setState(created.current())
    void created.run()
    return () => created.close()
  }, [jobId, planId])

  const runs = initialJob != null && !hasStopped(initialJob.status)
  useEffect(() => {
    if (runs) void follower.current?.resume()
  }, [runs])

  // The server is back or has recovered: do not wait for the next poll.
  const server = useServerState()
  const isDown = server === 'away' || server === 'failing'
  useEffect(() => {
    if (!isDown) void follower.current?.serverIsBack()
  }, [isDown])

  const loadOlder = useCallback(() => void follower.current?.loadOlder(), [])
  const retry = useCallback(() => void follower.current?.retry(), [])
  const all = useCallback(async () => (await follower.current?.all()) ?? [], [])
  return { ...state, loadOlder, retry, all }
}
