// Short names for the types of the generated schema.
import type { components } from './schema'

type Schemas = components['schemas']

export type Job = Schemas['JobSummary']
export type Jobs = Schemas['JobsResponse']
export type Labels = Schemas['Labels']
export type LabelsPatch = Schemas['LabelsPatch']
export type Review = Schemas['Review']
export type ReviewPatch = Schemas['ReviewPatch']
export type ReviewedSession = Schemas['ReviewedSessionResponse']
export type Status = Schemas['StatusResponse']
export type DayDetail = Schemas['DayDetail']
export type Usage = Schemas['UsageSummary']
export type JobQuality = Schemas['JobQuality']
export type DegradedDay = Schemas['DegradedDayResponse']
export type BooksFacts = Schemas['BooksFacts']
export type RangeResults = Schemas['RangeResults']
export type RangeResult = Schemas['RangeResult']
export type DayResults = Schemas['DayResults']
export type DayResult = Schemas['DayResult']
export type PointInTimeReason = Schemas['PointInTimeReason']
export type Benchmark = Schemas['BenchmarkResponse']
export type RelativeMetrics = Schemas['RelativeMetrics']
export type Metrics = Schemas['Metrics']
export type Trade = Schemas['Trade']
export type Rejected = Schemas['RejectionResponse']
export type Session = Schemas['SessionResponse']
export type Message = Schemas['MessageResponse']
export type Instructions = Schemas['InstructionsResponse']
export type Position = Schemas['PositionResponse']
export type Step = Schemas['StepResponse']
export type Exposure = Schemas['ExposureResponse']
export type RecalledBlock = Schemas['RecalledBlock']
export type RecalledItem = Schemas['RecalledItem']
export type Lineage = Schemas['LineageResponse']
export type LineageMessage = Schemas['LineageMessage']
export type LineageMemory = Schemas['LineageMemory']
export type Live = Schemas['LiveResponse']
export type Dataset = Schemas['DatasetResponse']
export type SeenByResponse = Schemas['SeenByResponse']
export type SeenBySession = Schemas['SeenBySession']
export type SeenByRead = Schemas['SeenByRead']
export type SessionHeadResponse = Schemas['SessionHeadResponse']
export type DecisionText = Schemas['DecisionText']
export type Options = Schemas['OptionsResponse']
export type NodeRule = Schemas['SessionNodeOption']
export type DatasetOption = Schemas['DatasetOption']
export type Doctor = Schemas['DoctorResponse']
export type Finding = Schemas['Finding']
export type NewsItem = Schemas['NewsItem']
export type FundamentalItem = Schemas['FundamentalItem']
export type MacroItem = Schemas['MacroItem']
export type Bar = Schemas['BarResponse']
export type ShareEvent = Schemas['ShareEvent']
export type Codes = Schemas['Codes']
export type Round = Schemas['RoundResponse']
export type OpenPosition = Schemas['OpenPositionResponse']
export type Reflection = Schemas['ReflectionResponse']
export type Trades = Schemas['TradesResponse']
export type Archive = Schemas['ArchiveResponse']
export type Health = Schemas['HealthResponse']
export type Curves = Schemas['CurvesResponse']
export type AgentCurve = Schemas['AgentCurve']
export type Branch = Schemas['BranchBody']
export type Trigger = Schemas['TriggerBody']
export type AgentBody = Schemas['AgentBody']
export type Queued = Schemas['QueuedResponse']
export type ExperimentBody = Schemas['ExperimentBody']
export type ExperimentQueued = Schemas['QueuedExperimentResponse']
export type EstimateResponse = Schemas['EstimateResponse']
export type CommandResponse = Schemas['CommandResponse']
export type Changed = Schemas['ChangedResponse']
export type Deleted = Schemas['DeletedResponse']
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

/** How a desk's order was cut. */
export interface Cut {
  symbol: string
  code: string
  message: string
  numbers: Record<string, string>
}

/** Whether the job is neither queued nor running. */
export function hasStopped(status: string): boolean {
  return status !== 'queued' && status !== 'running'
}

export type Comparison = Schemas['CompareResponse']
export type ComparedItem = Schemas['ComparedItem']
export type ComparedPair = Schemas['ComparedPair']
export type Difference = Schemas['DifferenceResponse']
export type Interval = Schemas['IntervalResponse']
export type BranchComparison = Schemas['BranchComparison']
export type RandomBaseline = Schemas['RandomBaselineResponse']
export type ExperimentSummary = Schemas['ExperimentSummary']
export type Experiment = Schemas['ExperimentResponse']
export type ExperimentJob = Schemas['ExperimentJobResponse']
export type ExperimentChanged = Schemas['ChangedExperimentResponse']
export type LimitBody = Schemas['LimitBody']
export type Board = Schemas['Board']
export type ExcludedRuns = Schemas['ExcludedRuns']
export type LeaderboardEntry = Schemas['LeaderboardEntry']
export type AgentTrials = Schemas['AgentTrials']
export type WindowTrials = Schemas['WindowTrials']
export type AuditedSession = Schemas['AuditedSession']
export type AuditFinding = Schemas['AuditFinding']
export type AuditSummary = Schemas['AuditSummary']
