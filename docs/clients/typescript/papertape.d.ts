// The parts of the API's answers that the example uses. `GET /openapi.json` describes all of them: tools
// such as openapi-typescript turn it into types.

export type JobStatus = "queued" | "running" | "completed" | "partial" | "failed" | "cancelled";

export interface Deployment {
  deployment_mode: "prod" | "dev";
  is_dev_mode: boolean;
  preserve_dev_data: boolean | null;
}

export interface Simulation {
  start_date?: string | null;
  end_date: string;
  models?: string[];
  symbols?: string[];
  universe?: string;
  dataset?: string;
  market?: string;
  initial_cash?: number;
  seed?: number;
  summaries?: boolean;
  replace_existing?: boolean;
  rerun_degraded?: boolean;
}

export interface Queued extends Deployment {
  job_id: string;
  status: JobStatus;
  total_model_days: number;
  message: string;
  warnings: string[];
  continues: Record<string, { job: string; date: string }>;
  parent: string | null;
}

export interface Progress {
  total_model_days: number;
  completed: number;
  failed: number;
  skipped: number;
  pending: number;
}

export interface Status extends Deployment {
  job_id: string;
  status: JobStatus;
  progress: Progress;
  error: string | null;
  warnings: string[];
}

export interface Metrics {
  days: number;
  total_return: number | null;
  annualized_return: number | null;
  volatility: number | null;
  sharpe: number | null;
  sortino: number | null;
  max_drawdown: number | null;
  calmar: number | null;
  win_rate: number | null;
  turnover: number | null;
  costs: number;
  exposure: number | null;
}

export interface Baseline {
  daily_portfolio_values: { date: string; portfolio_value: number }[];
  period_metrics: Metrics;
  uninvested: number | null;
  is_underinvested: boolean;
}

export interface RangeResult {
  model: string;
  job_id: string;
  is_llm: boolean | null;
  start_date: string;
  end_date: string;
  starting_portfolio_value: number;
  ending_portfolio_value: number;
  daily_portfolio_values: { date: string; portfolio_value: number; cash: number }[];
  period_metrics: Metrics;
  baselines: { buy_and_hold: Baseline; equal_weight: Baseline } | null;
}

export interface RangeResults extends Deployment {
  start_date: string;
  end_date: string;
  results: RangeResult[];
  count: number;
}

export interface Position {
  action_id: number;
  action_type: string;
  symbol: string | null;
  amount: number;
  price: number | null;
  cash_after: number;
  portfolio_value: number;
}

export interface Message {
  message_index: number;
  role: "user" | "assistant" | "tool";
  content: string;
  summary?: string | null;
  tool_name?: string;
  tool_input?: unknown;
  timestamp: string;
}

export interface Session {
  session_id: number;
  job_id: string;
  date: string;
  model: string;
  is_llm: boolean | null;
  session_summary: string | null;
  positions: Position[];
  conversation?: Message[];
}

export interface Sessions extends Deployment {
  sessions: Session[];
  count: number;
  next_cursor: string | null;
}

export interface Refusal {
  error: string;
  message: string;
}

export interface StreamEvent {
  name: "snapshot" | "log_entry" | "message" | "node" | "order" | "progress" | "job" | "end" | "delta";
  /** `null`: a `delta`, words of an answer that is being written. */
  id: number | string | null;
  data: {
    job: { job_id: string; kind: string; status: JobStatus; error: string | null };
    log_entry: unknown;
    cursor: number | string;
    event: unknown;
  };
}
