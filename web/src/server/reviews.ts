// Scores and notes of sessions.
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query'
import { address, read, send } from './client'
import type { Review, ReviewedSession, ReviewPatch, Session } from './types'

const PAGE = 200

/** All reviewed sessions of a job, by day and agent. They are written by hand, so there are few. */
export const jobReviews = (jobId: string) =>
  queryOptions({
    queryKey: ['job', jobId, 'reviews'],
    queryFn: async ({ signal }) => {
      const all: ReviewedSession[] = []
      let cursor: string | undefined
      do {
        const page = await read('/jobs/{job_id}/reviews', { job_id: jobId }, { limit: PAGE, cursor }, signal)
        all.push(...page.reviews)
        cursor = page.next_cursor ?? undefined
      } while (cursor)
      return all
    },
  })

/** Changes the review of a session, and shows it without reading the session again. */
export function useReview(session: Session) {
  const client = useQueryClient()
  const { job_id: jobId, session_id: id, date, model } = session
  return useMutation({
    mutationFn: (patch: ReviewPatch) => send<{ review: Review }>('PATCH', address('/sessions/{id}/review', { id }), patch),
    onSuccess: ({ review }) => {
      client.setQueryData<Session | null>(['job', jobId, 'session', date, model], (now) => now && { ...now, review })
      void client.invalidateQueries({ queryKey: ['job', jobId, 'reviews'] })
    },
  })
}
