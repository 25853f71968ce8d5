// The memories as files. Columns do not depend on the language.
import type { Archive, OpenPosition, Reflection, Round } from '@/server/types'
import type { TableData } from '@/shared/csv'

export function reflectionsFile(rows: Reflection[]): TableData {
  return {
    columns: [
      'trade_id', 'part', 'job_id', 'session_id', 'agent', 'symbol', 'side', 'quantity', 'leverage', 'entry_time', 'entry_price', 'exit_time', 'exit_price', 'notional', 'pnl', 'return_pct', 'holding_days', 'cause', 'known_at', 'source',
      'value_assessment', 'error_tags', 'summary', 'next_rules', 'thesis', 'planned_entry_price', 'actual_entry_price', 'planned_size', 'actual_size', 'planned_stop_price', 'actual_stop_price', 'planned_exit_price', 'actual_exit_price', 'note',
    ],
    rows: rows.map((row) => {
      const plan = row.execution_deviation
      return [
        row.trade_id, row.part, row.job_id, row.session_id, row.model, row.symbol, row.side, row.quantity, row.leverage, row.entry_time, row.entry_price, row.exit_time, row.exit_price, row.notional, row.pnl, row.return_pct, row.holding_days, row.cause, row.known_at, row.source,
        row.value_assessment, row.error_tags.join(' '), row.summary, row.next_rules.join('\n'), row.thesis, plan.planned_entry, plan.actual_entry, plan.planned_size, plan.actual_size, plan.planned_stop, plan.actual_stop, plan.planned_exit, plan.actual_exit, row.note,
      ]
    }),
  }
}

export function openPositionsFile(rows: OpenPosition[]): TableData {
  return {
    columns: ['position_id', 'job_id', 'session_id', 'agent', 'symbol', 'side', 'quantity', 'entry_price', 'stop_price', 'target_price', 'leverage', 'opened_at', 'known_at', 'summary'],
    rows: rows.map((row) => [row.position_id, row.job_id, row.session_id, row.model, row.symbol, row.side, row.quantity, row.entry_price, row.stop_loss, row.take_profit, row.leverage, row.opened_at, row.known_at, row.summary]),
  }
}

export function roundsFile(rows: Round[]): TableData {
  return {
    columns: ['round_id', 'job_id', 'session_id', 'agent', 'known_at', 'decisions', 'is_degraded', 'source', 'summary', 'situation', 'note'],
    rows: rows.map((row) => [row.round_id, row.job_id, row.session_id, row.model, row.known_at, row.assets.map((asset) => `${asset.symbol} ${asset.decision}`).join('; '), row.degraded, row.source, row.summary, row.situation, row.note]),
  }
}

export function archivesFile(rows: Archive[]): TableData {
  return {
    columns: ['job_id', 'agent', 'symbol', 'period', 'length', 'body'],
    rows: rows.map((row) => [row.job_id, row.model, row.symbol, row.period, row.length, JSON.stringify(row.body)]),
  }
}
