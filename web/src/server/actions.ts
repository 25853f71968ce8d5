// Types of the action log, plans and chat, from the generated schema.
import type { components } from './schema'

type Schemas = components['schemas']

/** One state of one action. */
export type LogEntry = Omit<Schemas['LogEntry'], 'details'> & { details?: unknown }
/** One action of a turn. */
export type ActionSummary = Schemas['SummaryItem']
export type Plan = Schemas['PlanSummary']
/** A task of a plan. */
export type Task = Omit<Schemas['TaskSummary'], 'execution_result'> & { execution_result?: unknown }
export type NewTask = Schemas['TaskBody']
export type TaskChange = Schemas['TaskPatch']
/** A job that worked on a plan. */
export type PlanJob = Schemas['PlanJobResponse']
/** A queued job of a plan. */
export type PlanJobQueued = Schemas['PlanJobQueued']

/** A job as its log shows it: the fields of the stream, plus the times from the log page. */
export type LogJob = Schemas['StreamedJob'] & Partial<Pick<Schemas['JobSummary'], 'created_at' | 'started_at' | 'completed_at'>>

/** A page of a job's log, with its job. */
export type JobLogResponse = Partial<Pick<Schemas['JobResponse'], 'next_cursor' | 'before' | 'actions_summary'>> & { job: LogJob; logs?: LogEntry[] }

/** A page of rows without the job. */
export type ActionsResponse = Pick<Schemas['ActionsResponse'], 'next_cursor' | 'before'> & { logs: LogEntry[] }

/** An action that awaits confirmation. */
export type PendingAction = Schemas['PendingAction']
/** A message of a conversation with the assistant. */
export type ChatMessageRow = Schemas['ChatMessageResponse']
export type ChatSession = Schemas['ChatSessionSummary']
/** A conversation with a page of its messages, newest first. */
export type ChatSessionResponse = Schemas['ChatSessionResponse']
/** The response to a sent message. */
export type ChatSent = Schemas['TurnResponse']
