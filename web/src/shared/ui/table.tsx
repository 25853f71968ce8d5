// A table whose columns sort and whose head stays.
import { type ReactNode, useMemo, useState } from 'react'
import { useText } from '../i18n'

export interface Column<R> {
  id: string
  label: string
  title?: string
  /** Right-aligned numbers, which sort from the largest first. */
  num?: boolean
  /** What the column sorts by; without it, it does not sort. */
  sort?: (row: R) => number | string | null | undefined
  /** The cell's class. */
  className?: (row: R) => string
  cell: (row: R) => ReactNode
  /** Stays visible while the others scroll sideways. */
  stays?: boolean
}

export interface Order {
  id: string
  descending: boolean
}

interface Props<R> {
  label?: string
  columns: Column<R>[]
  rows: R[]
  rowKey: (row: R) => string
  rowClass?: (row: R) => string
  /** The initial order; by default the order of `rows`. */
  initial?: Order
  /** Limits the height, so that the head stays while the rows scroll. */
  tall?: boolean
  /** At most this many rows are shown. */
  limit?: number
}

export function SortTable<R>({ label, columns, rows, rowKey, rowClass, initial, tall, limit }: Props<R>) {
  const t = useText()
  const [order, setOrder] = useState<Order | null>(initial ?? null)
  const sorted = useMemo(() => sortRows(rows, columns, order), [rows, columns, order])
  const sortBy = ({ id, num }: Column<R>) => setOrder((now) => (now?.id === id ? { id, descending: !now.descending } : { id, descending: num === true }))
  return (
    <div className={tall ? 'scroll-x table-box tall-table' : 'scroll-x table-box'}>
      <table className="grid-table" aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => {
              const isSorted = order?.id === column.id
              return (
                <th
                  key={column.id}
                  scope="col"
                  className={[column.num && 'num', column.stays && 'stays'].filter(Boolean).join(' ') || undefined}
                  title={column.title}
                  aria-sort={isSorted ? (order.descending ? 'descending' : 'ascending') : undefined}
                >
                  {column.sort ? (
                    <button type="button" className="sort" title={t('table.sort', { column: column.label })} onClick={() => sortBy(column)}>
                      {column.label}
                      <span className="sort-mark" aria-hidden="true">
                        {isSorted ? (order.descending ? '▾' : '▴') : ''}
                      </span>
                    </button>
                  ) : (
                    column.label
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody>
          {(limit === undefined ? sorted : sorted.slice(0, limit)).map((row) => (
            <tr key={rowKey(row)} className={rowClass?.(row)}>
              {columns.map((column) => (
                <td key={column.id} className={[column.num && 'num', column.stays && 'stays', column.className?.(row)].filter(Boolean).join(' ') || undefined}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The rows in an order. Rows without a value come last, whichever the direction; equal rows keep their order. */
export function sortRows<R>(rows: R[], columns: Column<R>[], order: Order | null): R[] {
  const value = columns.find((column) => column.id === order?.id)?.sort
  if (!order || !value) return rows
  const sign = order.descending ? -1 : 1
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)]
    if (x == null || y == null) return Number(x == null) - Number(y == null)
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y)))
  })
}
