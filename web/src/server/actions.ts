// The action log and plans, as the generated document has them; chat, as `docs/api.md` tells of it.
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
/** A job that worked on a plan. */
export type PlanJob = Schemas['PlanJobAnswer']

/** A job's head, as its log shows it. */
export interface LogJob {
  job_id: string
  kind: string
  status: string
  error?: string | null
  created_at?: string | null
  started_at?: string | null
  completed_at?: string | null
}

/** A page of a job's log, with its job. */
export interface JobLogAnswer {
  job: LogJob
  logs?: LogEntry[]
  /** Newer rows are reached by it. */
  next_cursor?: string | null
  /** Older rows are reached by it. */
  before?: string | null
  actions_summary?: ActionSummary[] | null
}

/** A page of rows alone. */
export interface ActionsAnswer {
  logs: LogEntry[]
  next_cursor: string | null
  before: string | null
}

/** What a chat message may carry. */
export interface ChatMetadata {
  type?: string
  job_id?: string
  plan_id?: number | null
  actions_summary?: ActionSummary[]
  /** Actions that wait for a person's word. */
  pending?: PendingAction[]
  error?: string | null
}

/** An action that is done only when it is confirmed. */
export interface PendingAction {
  id: string
  name: string
  question: string
}

/** A message of a conversation with the assistant. */
export interface ChatMessageRow {
  id: number
  role: 'user' | 'assistant'
  content: string
  metadata: ChatMetadata | null
  job_id?: string | null
  created_at: string
}

/** A conversation. */
export interface ChatSession {
  id: string
  title: string
  language: 'en' | 'zh'
  plan_id: number | null
  created_at: string
  updated_at: string
}

/** A conversation with a page of its messages, newest first. */
export interface ChatSessionAnswer {
  session: ChatSession
  messages: ChatMessageRow[]
  next_cursor: string | null
  /** Does the server want the actions of a turn shown below its answer? */
  show_action_summary: boolean
}

/** The answer to a message that was sent. */
export interface ChatSent {
  session: ChatSession
  user: ChatMessageRow
  assistant: ChatMessageRow
  job_id: string
}
