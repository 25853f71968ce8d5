import type { Job } from '@/server/types'

/** A completed run of one rule-based agent. */
export function runJob(id: string, part: Partial<Job> = {}): Job {
  return {
    job_id: id,
    kind: 'simulate',
    status: 'completed',
    can_resume: false,
    progress: { total_model_days: 5, completed: 5, failed: 0, skipped: 0, pending: 0 },
    created_at: '2026-11-22T05:00:00Z',
    quality: { degraded_days: 0, failed_days: 0 },
    usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: 0, priced_cost_usd: 0, estimated_calls: 0, cost: 'known' },
    warnings: [],
    superseded: {},
    rules_version: 2,
    labels: { tags: [] },
    simulation: {
      dataset: { name: 'us', hash: '00ff' },
      start_date: '2012-10-01',
      end_date: '2012-10-05',
      symbols: ['AAPL', 'IBM'],
      agents: [{ name: 'house::momentum', kind: 'solo', model: 'house::momentum', is_llm: false }],
      continues: {},
      costs: 'market',
      initial_cash: 10_000,
      market: 'us_equity',
      memory: 'off',
      read_window: 5,
      read_window_after_loss: 10,
      seed: 1,
      summaries: false,
    },
    ...part,
  }
}
