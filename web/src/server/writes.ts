// What can be changed.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { address, send } from './client'
import type { ChatSent, Plan } from './actions'
import type { Changed, Queued, Trigger } from './types'

export function useStartRun() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: Trigger) => send<Queued>('POST', '/simulate/trigger', body),
    onSuccess: () => client.invalidateQueries({ queryKey: ['jobs'] }),
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
  const run = useMutation({
    mutationFn: ({ id, what }: { id: number; what: 'decompose' | 'execute' }) =>
      send<{ job_id: string }>('POST', `/plans/${id}/${what}`, {}),
    onSuccess: changed,
  })
  const remove = useMutation({
    mutationFn: (id: number) => send<unknown>('DELETE', `/plans/${id}`),
    onSuccess: changed,
  })
  return { create, run, remove }
}
