import type { ActionsResponse, JobLogResponse } from './actions'
import { address, send } from './client'
import type { PageQuery } from './jobLogFollower'

/** A page of a job's log, through the route of its plan if it has one. */
export async function jobLogPage(
  jobId: string,
  planId: number | null | undefined,
  query: PageQuery,
  signal: AbortSignal,
): Promise<JobLogResponse> {
  const names = { job: jobId, plan: planId ?? '' }
  const base = planId == null ? '/jobs/{job}' : '/plans/{plan}/jobs/{job}'
  if (query.before != null && planId != null) {
    // The route for older rows of a plan's job does not return the job.
    const url = address(`${base}/actions`, names, { before: query.before, limit: query.limit })
    const page = await send<ActionsResponse>('GET', url, undefined, signal)
    return { ...page, job: { job_id: jobId } as JobLogResponse['job'] }
  }
  const parameters = {
    cursor: query.cursor,
    before: query.before,
    limit: query.limit,
    retries: query.retries,
  }
  return send('GET', address(base, names, parameters), undefined, signal)
}
