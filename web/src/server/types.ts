// Short names for the types of the generated schema.
import type { components } from './schema'

type Schemas = components['schemas']

export type Job = Schemas['JobSummary']
export type Jobs = Schemas['JobsAnswer']
export type Status = Schemas['StatusAnswer']
export type DayDetail = Schemas['DayDetail']
export type Usage = Schemas['UsageSummary']
export type JobQuality = Schemas['JobQuality']
export type DegradedDay = Schemas['DegradedDayAnswer']
export type BooksFacts = Schemas['BooksFacts']
export type RangeResults = Schemas['RangeResults']
export type RangeResult = Schemas['RangeResult']
export type DayResults = Schemas['DayResults']
export type DayResult = Schemas['DayResult']
export type PointInTimeReason = Schemas['PointInTimeReason']
export type Benchmark = Schemas['BenchmarkAnswer']
export type RelativeMetrics = Schemas['RelativeMetrics']
export type Metrics = Schemas['Metrics']
export type Trade = Schemas['Trade']
export type Rejected = Schemas['Rejected']
export type Session = Schemas['SessionAnswer']
export type Message = Schemas['MessageAnswer']
export type Instructions = Schemas['InstructionsAnswer']
export type Position = Schemas['PositionAnswer']
export type Step = Schemas['StepAnswer']
export type Exposure = Schemas['ExposureAnswer']
export type GivenMemory = Schemas['GivenAnswer']
export type GivenItem = Schemas['GivenItem']
export type Live = Schemas['LiveAnswer']
export type Dataset = Schemas['DatasetAnswer']
export type ShownAnswer = Schemas['ShownAnswer']
export type ShownSession = Schemas['ShownSessionAnswer']
export type ShownRead = Schemas['ShownReadAnswer']
export type SessionHeadAnswer = Schemas['SessionHeadAnswer']
export type Options = Schemas['OptionsAnswer']
export type DatasetOption = Schemas['DatasetOption']
export type Doctor = Schemas['DoctorAnswer']
export type Finding = Schemas['Finding']
export type NewsItem = Schemas['NewsItem']
export type FundamentalItem = Schemas['FundamentalItem']
export type MacroItem = Schemas['MacroItem']
export type Bar = Schemas['BarAnswer']
export type ShareEvent = Schemas['ShareEvent']
export type Codes = Schemas['Codes']
export type Round = Schemas['RoundAnswer']
export type OpenPosition = Schemas['OpenPositionAnswer']
export type Reflection = Schemas['ReflectionAnswer']
export type Trades = Schemas['TradesAnswer']
export type Archive = Schemas['ArchiveAnswer']
export type Health = Schemas['HealthAnswer']
export type Curves = Schemas['CurvesAnswer']
export type AgentCurve = Schemas['AgentCurve']
export type Branch = Schemas['BranchBody']
export type Trigger = Schemas['TriggerBody']
export type AgentBody = Schemas['AgentBody']
export type Queued = Schemas['QueuedAnswer']
export type Changed = Schemas['ChangedAnswer']
export type Deleted = Schemas['DeletedAnswer']
export type StreamedJob = Schemas['StreamedJob']
export type StreamData = Schemas['StreamData']

export type JobStatus = Job['status']
export type DayStatus = DayDetail['status']

/** A desk's research provenance. */
export interface Research {
  research_status: 'full' | 'degraded' | 'failed'
  research_mode: 'debate' | 'degraded_synthesis'
  timed_out_nodes: string[]
  degraded_reason: string | null
  covered_dimensions: string[]
  manager_confidence: number | null
}

/** A node without a result. */
export interface Degradation {
  symbol?: string | null
  node: string
  kind: 'timeout' | 'error'
  reason: string
  elapsed_ms?: number | null
}

/** The quality of a day's sample. */
export interface DataQuality {
  state: 'ok' | 'research_degraded' | 'node_degraded' | 'no_decision' | 'failed'
  reason_codes?: string[]
  sources_missing?: Record<string, string>
}

/** How a desk's orders were sized. */
export interface Sizing {
  cuts?: { code: string; message: string; numbers?: Record<string, string>; symbol: string }[]
  orders?: { code: string | null; order_id: string; quantity: string; side: string; status: string; symbol: string }[]
}

/** Whether the job is neither queued nor running. */
export function hasStopped(status: string): boolean {
  return status !== 'queued' && status !== 'running'
}
