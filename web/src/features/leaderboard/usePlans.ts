import { useQueries } from '@tanstack/react-query'
import { experiment } from '@/server/judging'
import type { LeaderboardEntry } from '@/server/types'
import { type ExperimentPlans, experimentOf } from './rows'

/** The plans of the experiments that the entries are of. Until one is loaded, its entries are compared by their newest run. */
export function usePlans(entries: readonly LeaderboardEntry[]): ExperimentPlans {
  const ids = [...new Set(entries.flatMap((entry) => experimentOf(entry) ?? []))]
  const plans = useQueries({ queries: ids.map((id) => ({ ...experiment(id), refetchInterval: false as const, retry: false })) })
  return new Map(ids.flatMap((id, index) => {
    const plan = plans[index]?.data
    return plan ? [[id, plan] as const] : []
  }))
}
