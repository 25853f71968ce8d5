import { useCallback, useEffect, useRef, useState } from 'react'
import type { LogEntry, LogJob } from './actions'
import { type JobLog, JobLogFollower, NOTHING, type Sources } from './jobLogFollower'
import { jobLogPage } from './jobLogPage'
import { readStream } from './stream'
import { hasStopped } from './types'
import { pause } from './wait'

export interface FollowedJobLog extends JobLog {
  loadOlder: () => void
  retry: () => void
  /** Every row of it, older ones included. */
  all: () => Promise<LogEntry[]>
}

/**
 * A job's log, as it goes on: a snapshot with its cursor, then the stream. Where the stream breaks, it polls
 * every five seconds from the cursor, gives up after five failures in a row, and tries the stream again after
 * each success. When the job has ended the log is read-only, until what is known of it says that it runs again.
 */
export function useJobLog(
  jobId: string,
  initialJob?: LogJob | null,
  planId?: number | null,
  sources?: Partial<Sources>,
): FollowedJobLog {
  const [state, setState] = useState<JobLog>({ ...NOTHING, job: initialJob ?? null })
  const follower = useRef<JobLogFollower | null>(null)
  // Neither is a reason to begin anew: they are what it begins with.
  const begin = useRef({ initialJob, sources })

  useEffect(() => {
    const own: Sources = {
      page: (query, signal) => jobLogPage(jobId, planId, query, signal),
      stream: (options) => readStream(jobId, options),
      wait: pause,
      ...begin.current.sources,
    }
    const following = new JobLogFollower(own, setState, begin.current.initialJob)
    follower.current = following
    setState(following.current())
    void following.run()
    return () => following.close()
  }, [jobId, planId])

  const runs = initialJob != null && !hasStopped(initialJob.status)
  useEffect(() => {
    if (runs) void follower.current?.resume()
  }, [runs])

  const loadOlder = useCallback(() => void follower.current?.loadOlder(), [])
  const retry = useCallback(() => void follower.current?.retry(), [])
  const all = useCallback(async () => (await follower.current?.all()) ?? [], [])
  return { ...state, loadOlder, retry, all }
}
