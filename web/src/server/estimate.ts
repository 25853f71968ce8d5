import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { send } from './client'
import type { EstimateResponse } from './types'

/** What a run may take. `body` is the JSON of its `ExperimentBody`. */
export const estimate = (body: string | null) =>
  queryOptions({
    queryKey: ['estimate', body],
    enabled: body !== null,
    staleTime: 30_000,
    retry: false,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => send<EstimateResponse>('POST', '/experiments/estimate', JSON.parse(body ?? 'null'), signal),
  })
