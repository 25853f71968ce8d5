// The list of runs: only the rows in view are in the document.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, useEffect, useRef, useState } from 'react'
import type { Job } from '@/server/types'
import { useText } from '@/shared/i18n'
import { useNow } from '@/shared/now'
import { nextOrder, type Order, orderOf, type Sort } from './address'
import { type Column, gridOf } from './columns'
import { RunRow } from './RunRow'
import css from './runs.module.css'

/** Further runs are loaded this many rows before the end. */
const AHEAD = 25

interface Props {
  jobs: Job[]
  columns: Column[]
  order: Order | undefined
  onOrder: (order: Order | undefined) => void
  selected: ReadonlySet<string>
  onSelect: (id: string, isSelected: boolean) => void
  canEdit: boolean
  hasMore: boolean
  onMore: () => void
}

export function RunsTable({ jobs, columns, order, onOrder, selected, onSelect, canEdit, hasMore, onMore }: Props) {
  const t = useText()
  const now = useNow()
  const box = useRef<HTMLDivElement>(null)
  const [editing, setEditing] = useState<string | null>(null)
  const rows = useVirtualizer({
    count: jobs.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => 20 + 24 * Math.max(2, jobs[index]?.simulation?.agents.length ?? 1),
    overscan: 6,
    getItemKey: (index) => jobs[index]?.job_id ?? index,
  })
  const visible = rows.getVirtualItems()
  const last = visible[visible.length - 1]?.index ?? -1
  useEffect(() => {
    if (hasMore && last >= jobs.length - AHEAD) onMore()
  }, [hasMore, last, jobs.length, onMore])
  const grid = gridOf(columns)
  const style = { '--runs-columns': grid.tracks, '--runs-width': grid.width } as CSSProperties
  return (
    <div className={css.box} role="table" aria-label={t('runs.title')} aria-rowcount={hasMore ? -1 : jobs.length + 1} ref={box} style={style}>
      <div role="rowgroup" className={css.heads}>
        <div className={`${css.row} ${css.names}`} role="row">
          <span role="columnheader">
            <span className="hidden-label">{t('runs.column.select')}</span>
          </span>
          {columns.map((column) => (
            <Head key={column.key} column={column} order={order} onOrder={onOrder} />
          ))}
        </div>
      </div>
      <div role="rowgroup" className={css.space} style={{ height: rows.getTotalSize() }}>
        {visible.map((row) => {
          const job = jobs[row.index]
          if (!job) return null
          const id = job.job_id
          return (
            <div
              key={row.key}
              role="row"
              aria-rowindex={row.index + 2}
              data-index={row.index}
              ref={rows.measureElement}
              data-run={id}
              className={`${css.row} ${css.place} ${selected.has(id) ? 'selected' : ''}`}
              style={{ transform: `translateY(${row.start}px)` }}
            >
              <RunRow
                job={job}
                columns={columns}
                isSettled={!rows.isScrolling}
                isSelected={selected.has(id)}
                isEditing={editing === id}
                canEdit={canEdit}
                now={now}
                onSelect={onSelect}
                onEdit={setEditing}
              />
            </div>
          )
        })}
      </div>
    </div>
  )
}

function Head({ column, order, onOrder }: { column: Column; order: Order | undefined; onOrder: (order: Order | undefined) => void }) {
  const t = useText()
  const className = `${column.isNumber ? 'num' : ''} ${column.stays ? 'runs-stays' : ''}`.trim()
  if (!column.sort) {
    return (
      <span role="columnheader" className={className}>
        {t(column.text)}
      </span>
    )
  }
  const sort: Sort = column.sort
  const direction = orderOf(sort, order)
  return (
    <span role="columnheader" aria-sort={direction} className={className}>
      <button type="button" onClick={() => onOrder(nextOrder(sort, order))}>
        {t(column.text)}
        <span aria-hidden="true" className={css.arrow}>
          {{ ascending: '▲', descending: '▼', none: '' }[direction]}
        </span>
      </button>
    </span>
  )
}
