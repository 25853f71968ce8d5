// Requests as commands. The server knows the options of its command line.
import { queryOptions } from '@tanstack/react-query'
import { address, send } from './client'
import type { CommandResponse } from './types'

const command = (url: string, body: string | null) =>
  queryOptions({
    queryKey: ['command', url, body],
    enabled: body !== null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: async ({ signal }) => (await send<CommandResponse>('POST', url, JSON.parse(body ?? 'null'), signal)).command ?? null,
  })

/** The command of a run or an experiment; `null` if there is none. `body` is the JSON of its `ExperimentBody`. */
export const runCommand = (body: string | null) => command('/experiments/command', body)

/** The command of a branch of this job. `body` is the JSON of its `BranchBody`. */
export const branchCommand = (jobId: string, body: string | null) => command(address('/simulate/{id}/branch/command', { id: jobId }), body)
