// The columns of the list of runs. The reader chooses which ones are shown.
import { useMemo } from 'react'
import type { TextKey } from '@/shared/i18n'
import { changeSettings, useSettings } from '@/shared/settings'
import type { Sort } from './address'

export type ColumnKey = 'run' | 'status' | 'agent' | 'equity' | 'return' | 'edge' | 'drawdown' | 'sharpe' | 'quality' | 'dataset' | 'period' | 'cost' | 'created'

export interface Column {
  key: ColumnKey
  text: TextKey
  width: string
  sort?: Sort
  isNumber?: boolean
  /** A column that cannot be hidden: what a run is, and whether its results can be trusted. */
  isFixed?: boolean
  /** Stays visible while the list scrolls sideways. */
  stays?: boolean
  /** Not among the first choice. */
  isExtra?: boolean
}

export const COLUMNS: Column[] = [
  { key: 'run', text: 'runs.column.run', width: 'minmax(170px, 2fr)', sort: 'name', isFixed: true },
  { key: 'status', text: 'runs.column.status', width: 'minmax(96px, 0.9fr)', sort: 'status' },
  { key: 'agent', text: 'runs.agent', width: 'minmax(182px, 1.9fr)', sort: 'model' },
  { key: 'equity', text: 'runs.equity', width: '92px' },
  { key: 'return', text: 'runs.return', width: '70px', isNumber: true },
  { key: 'edge', text: 'runs.edge', width: '70px', isNumber: true },
  { key: 'drawdown', text: 'runs.drawdown', width: '70px', isNumber: true },
  { key: 'sharpe', text: 'runs.sharpe', width: '60px', isNumber: true, isExtra: true },
  { key: 'quality', text: 'runs.research', width: 'minmax(118px, 1fr)', sort: 'quality', isFixed: true, stays: true },
  { key: 'dataset', text: 'runs.column.dataset', width: 'minmax(90px, 0.8fr)', sort: 'dataset', isExtra: true },
  { key: 'period', text: 'runs.column.period', width: 'minmax(110px, 0.9fr)', sort: 'start_date', isExtra: true },
  { key: 'cost', text: 'runs.cost', width: '96px', isNumber: true },
  { key: 'created', text: 'runs.column.created', width: '84px', sort: 'created' },
]

const FIRST_CHOICE = COLUMNS.filter((column) => !column.isExtra).map((column) => column.key)

/** The row's grid: its columns and its minimum width, in pixels, with gaps and padding. */
export function gridOf(columns: Column[]): { tracks: string; width: string } {
  const widths = columns.map((column) => Number(/\d+/.exec(column.width)?.[0] ?? 0) + 12)
  return { tracks: `26px ${columns.map((column) => column.width).join(' ')}`, width: `${widths.reduce((sum, one) => sum + one, 46)}px` }
}

/** The columns shown, in their order. */
export function useColumns(): Column[] {
  const chosen = useSettings().runColumns ?? FIRST_CHOICE
  return useMemo(() => COLUMNS.filter((column) => column.isFixed || chosen.includes(column.key)), [chosen])
}

export function chooseColumn(shown: Column[], key: ColumnKey, isShown: boolean): void {
  const keys = shown.map((column) => column.key).filter((one) => one !== key)
  changeSettings({ runColumns: isShown ? [...keys, key] : keys })
}
