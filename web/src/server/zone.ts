import { useQuery } from '@tanstack/react-query'
import { dataset, job } from './queries'

/** The time zone of the exchange that a run trades on; `null` while it loads, or if it is unknown. */
export function useRunZone(jobId: string): { zone: string | null; isLoading: boolean } {
  const run = useQuery(job(jobId))
  const data = useQuery(dataset(run.data?.simulation?.dataset.hash ?? ''))
  return { zone: data.data?.zone ?? null, isLoading: run.isLoading || data.isLoading }
}
