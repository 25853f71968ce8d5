// Mutations.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { address, send } from './client'
import type { ChatSent, NewTask, Plan, PlanJobQueued, Task, TaskChange } from './actions'
import type { Branch, Changed, Deleted, ExperimentBody, ExperimentQueued, Queued, Trigger } from './types'

export function useStartRun() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: Trigger) => send<Queued>('POST', '/simulate/trigger', body),
    onSuccess: () => client.invalidateQueries({ queryKey: ['jobs'] }),
  })
}

export function useStartExperiment() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: ExperimentBody) => send<ExperimentQueued>('POST', '/experiments', body),
    onSuccess: () => Promise.all([client.invalidateQueries({ queryKey: ['jobs'] }), client.invalidateQueries({ queryKey: ['experiments'] })]),
  })
}

export function useJobControl(jobId: string) {
  const client = useQueryClient()
  const changed = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['job', jobId] }),
      client.invalidateQueries({ queryKey: ['jobs'] }),
    ])
  const cancel = useMutation({
    mutationFn: () => send<Changed>('POST', address('/simulate/{id}/cancel', { id: jobId })),
    onSettled: changed,
  })
  const resume = useMutation({
    mutationFn: () => send<Changed>('POST', address('/simulate/{id}/resume', { id: jobId })),
    onSettled: changed,
  })
  return { cancel, resume }
}

/** Deletes a job with its whole record; `true` also deletes the jobs that depend on it. */
export function useDeleteJob(jobId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (all: boolean) => send<Deleted>('DELETE', address('/jobs/{id}', { id: jobId }, all ? { dependents: true } : {})),
    onSuccess: () => client.invalidateQueries({ queryKey: ['jobs'] }),
  })
}

/** Starts a branch of this job. */
export function useBranch(jobId: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: Branch) => send<Queued>('POST', address('/simulate/{id}/branch', { id: jobId }), body),
    onSuccess: () => client.invalidateQueries({ queryKey: ['jobs'] }),
  })
}

export function useSendChat() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { message: string; session_id?: string | null; plan_id?: number | null; context?: Record<string, unknown> }) =>
      send<ChatSent>('POST', '/chat/message', body),
    onSuccess: (sent) =>
      Promise.all([
        client.invalidateQueries({ queryKey: ['chats'] }),
        client.invalidateQueries({ queryKey: ['chat', sent.session.id] }),
      ]),
  })
}

export function usePlanWrites() {
  const client = useQueryClient()
  const changed = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['plans'] }),
      client.invalidateQueries({ queryKey: ['plan'] }),
    ])
  const create = useMutation({
    mutationFn: (body: { name: string; goal: string }) => send<{ plan: Plan }>('POST', '/plans', body),
    onSuccess: changed,
  })
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: number; name: string; goal: string }) => send<{ plan: Plan }>('PATCH', address('/plans/{id}', { id }), body),
    onSuccess: changed,
  })
  const run = useMutation({
    mutationFn: ({ id, what, task }: { id: number; what: 'decompose' | 'execute'; task?: number }) =>
      send<PlanJobQueued>('POST', address(`/plans/{id}/${what}`, { id }), task === undefined ? {} : { task_id: task }),
    onSuccess: changed,
  })
  const remove = useMutation({
    mutationFn: (id: number) => send<null>('DELETE', address('/plans/{id}', { id })),
    onSuccess: changed,
  })
  return { create, change, run, remove }
}

/** Tasks of a plan. A move changes a task's parent and position. */
export function useTaskWrites(plan: number) {
  const client = useQueryClient()
  const changed = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ['plans'] }),
      client.invalidateQueries({ queryKey: ['plan', plan] }),
    ])
  const create = useMutation({
    mutationFn: (body: NewTask) => send<{ task: Task }>('POST', address('/plans/{plan}/tasks', { plan }), body),
    onSuccess: changed,
  })
  const change = useMutation({
    mutationFn: ({ task, ...body }: TaskChange & { task: number }) => send<{ task: Task }>('PATCH', address('/plans/{plan}/tasks/{task}', { plan, task }), body),
    onSuccess: changed,
  })
  const remove = useMutation({
    mutationFn: (task: number) => send<null>('DELETE', address('/plans/{plan}/tasks/{task}', { plan, task })),
    onSuccess: changed,
  })
  return { create, change, remove }
}
