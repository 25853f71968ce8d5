import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query'
import { address, send } from './client'
import type { Job, Jobs, Labels, LabelsPatch } from './types'

/** Changes the labels of a run, and shows them in every list without reading it again. */
export function useLabels(jobId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (patch: LabelsPatch) => send<{ labels: Labels }>('PATCH', address('/jobs/{id}/labels', { id: jobId }), patch),
    onSuccess: ({ labels }) => {
      const change = (job: Job): Job => (job.job_id === jobId ? { ...job, labels } : job)
      client.setQueriesData<InfiniteData<Jobs>>({ queryKey: ['jobs'] }, (list) =>
        list && { ...list, pages: list.pages.map((page) => ({ ...page, jobs: page.jobs.map(change) })) },
      )
      client.setQueryData<Job>(['job', jobId, 'summary'], (job) => job && change(job))
    },
  })
}
