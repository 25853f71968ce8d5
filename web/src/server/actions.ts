// The action log, plans and chat: the shapes of `docs/api.md`.

/** One state of one action. */
export interface LogEntry {
  id?: number
  plan_id: number | null
  job_id: string
  session_id: string | null
  user_message: string | null
  action_kind: string
  action_name: string
  status: 'queued' | 'running' | 'completed' | 'failed'
  success: boolean | null
  message: string | null
  details: unknown
  /** How many secrets were removed from it before it was written. */
  redactions?: number
  sequence: number
  created_at: string
  updated_at: string
}

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

/** One line of what a turn did. */
export interface ActionSummary {
  order: number
  kind?: string
  name?: string
  display: string
  success: boolean | null
  message?: string | null
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

/** A plan. */
export interface Plan {
  id: number
  name: string
  goal: string | null
  status: string
  created_at: string
  updated_at: string
}

/** A task of a plan. */
export interface Task {
  id: number
  plan_id: number
  parent_id: number | null
  name: string
  status: 'queued' | 'running' | 'completed' | 'failed' | 'skipped'
  instruction: string | null
  position: number
  depth: number
  path: string
  dependencies: number[]
  execution_result: unknown
}

/** A job that worked on a plan. */
export interface PlanJob {
  job_id: string
  job_type: string
  status: string
  rows: number
  created_at: string
}
