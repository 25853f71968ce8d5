// The action log, plans and chat, as the generated document has them.
import type { components } from './schema'

type Schemas = components['schemas']

/** One state of one action. */
export type LogEntry = Omit<Schemas['LogEntry'], 'details'> & { details?: unknown }
/** One line of what a turn did. */
export type ActionSummary = Schemas['SummaryItem']
/** A plan. */
export type Plan = Schemas['PlanSummary']
/** A task of a plan. */
export type Task = Omit<Schemas['TaskSummary'], 'execution_result'> & { execution_result?: unknown }
/** A task to be made. */
export type NewTask = Schemas['TaskBody']
/** What of a task is changed. */
export type TaskChange = Schemas['TaskPatch']
/** A job that worked on a plan. */
export type PlanJob = Schemas['PlanJobAnswer']
/** A job on a plan that was queued. */
export type PlanJobQueued = Schemas['PlanJobQueued']

/** A job's head, as its log shows it: what its stream tells, and the times that its page adds. */
export type LogJob = Schemas['StreamedJob'] & Partial<Pick<Schemas['JobSummary'], 'created_at' | 'started_at' | 'completed_at'>>

/** A page of a job's log, with its job. */
export type JobLogAnswer = Partial<Pick<Schemas['JobAnswer'], 'next_cursor' | 'before' | 'actions_summary'>> & { job: LogJob; logs?: LogEntry[] }

/** A page of rows alone. */
export type ActionsAnswer = Pick<Schemas['ActionsAnswer'], 'next_cursor' | 'before'> & { logs: LogEntry[] }

/** An action that is done only when it is confirmed. */
export type PendingAction = Schemas['PendingAction']
/** A message of a conversation with the assistant. */
export type ChatMessageRow = Schemas['ChatMessageAnswer']
/** A conversation. */
export type ChatSession = Schemas['ChatSessionSummary']
/** A conversation with a page of its messages, newest first. */
export type ChatSessionAnswer = Schemas['ChatSessionAnswer']
/** The answer to a message that was sent. */
export type ChatSent = Schemas['TurnAnswer']
