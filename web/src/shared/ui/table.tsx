// A table whose columns sort, whose head stays, and which can be downloaded.
import { Fragment, type ReactNode, useMemo, useRef, useState } from 'react'
import type { CsvValue, TableData } from '../csv'
import { useText } from '../i18n'
import { ExportMenu } from './exportMenu'
import { More } from './parts'
import type { Rest } from './rest'

export interface Column<R> {
  id: string
  label: string
  /** Only screen readers have the label: the cells are controls. The column is not downloaded. */
  isControl?: boolean
  title?: string
  /** Right-aligned numbers, which sort from the largest first. */
  num?: boolean
  /** What the column sorts by; without it, it does not sort. */
  sort?: (row: R) => number | string | null | undefined
  /** The cell's class. */
  className?: (row: R) => string
  cell: (row: R) => ReactNode
  /** Stays visible while the others scroll sideways: at the start, or as the last column. */
  stays?: boolean | 'end'
  /** The columns of the file, by name. By default, what the column sorts by, under its ID. */
  csv?: Record<string, ((row: R) => CsvValue) | undefined> | null
}

export interface Order {
  id: string
  descending: boolean
}

interface Props<R> {
  label: string
  /** The name of its files, without the extension. */
  name?: string
  columns: Column<R>[]
  rows: R[]
  rowKey: (row: R) => string
  rowClass?: (row: R) => string
  /** The initial order; by default the order of `rows`. */
  initial?: Order
  /** What is open below a row. */
  detail?: (row: R) => ReactNode
  /** Rows at the end, which do not sort. */
  foot?: ReactNode
  /** The rows that the server has and the page has not. */
  rest?: Rest<R>
  /** What the reader must know about the file. */
  note?: string | undefined
  /** At most this many rows are shown at first. */
  limit?: number
}

/** Rows that are shown at first, and how many more at a time. */
const ROWS = 150
const MORE_ROWS = 600

export function SortTable<R>({ label, name = 'table', columns: declared, rows, rowKey, rowClass, initial, detail, foot, rest, note, limit = ROWS }: Props<R>) {
  const t = useText()
  const [order, setOrder] = useState<Order | null>(initial ?? null)
  const [count, setCount] = useState(limit)
  const [error, setError] = useState<string | null>(null)
  const columns = useMemo(() => [...declared.filter((column) => column.stays !== 'end'), ...declared.filter((column) => column.stays === 'end')], [declared])
  const sorted = useMemo(() => sortRows(rows, columns, order), [rows, columns, order])
  const sortBy = async ({ id, num }: Column<R>) => {
    setError(null)
    try {
      // A part of the rows has no order of its own.
      if (rest?.hasMore) await rest.loadAll()
      setOrder((now) => (now?.id === id ? { id, descending: !now.descending } : { id, descending: num === true }))
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure))
    }
  }
  const showMore = () => {
    setCount(count + MORE_ROWS)
    if (count + MORE_ROWS > rows.length) rest?.loadMore()
  }
  const csv = async () => ({ ...fileOf(columns, rest?.hasMore ? sortRows(await rest.loadAll(), columns, order) : sorted), note })
  return (
    <>
      <TableFrame label={label} name={name} csv={csv} total={sorted.length} hasDetails={detail !== undefined}>
        <table className="grid-table" aria-label={label} aria-busy={rest?.isLoading || undefined}>
          <thead>
            <tr>
              {columns.map((column) => (
                <Head key={column.id} column={column} order={order} onSort={() => void sortBy(column)} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, count).map((row) => {
              const opened = detail?.(row)
              return (
                <Fragment key={rowKey(row)}>
                  <tr className={rowClass?.(row)}>
                    {columns.map((column) => (
                      <td key={column.id} className={classOf(column, column.className?.(row))}>
                        {column.cell(row)}
                      </td>
                    ))}
                  </tr>
                  {opened && (
                    <tr className="lineage-row" data-detail="">
                      <td colSpan={columns.length}>{opened}</td>
                    </tr>
                  )}
                </Fragment>
              )
            })}
            {foot}
          </tbody>
        </table>
      </TableFrame>
      {error && (
        <p className="panel-body down" role="alert">
          {t('table.sort.failed')} {error}
        </p>
      )}
      <More has={sorted.length > count || rest?.hasMore === true} busy={rest?.isLoading === true} onMore={showMore} />
    </>
  )
}

function Head<R>({ column, order, onSort }: { column: Column<R>; order: Order | null; onSort: () => void }) {
  const t = useText()
  const { label, isControl, title, sort } = column
  const direction = order?.id === column.id ? (order.descending ? 'descending' : 'ascending') : 'none'
  return (
    <th scope="col" className={classOf(column)} title={title} aria-sort={sort && direction} data-export={isControl ? 'none' : undefined}>
      {sort ? (
        <button type="button" className="sort" title={title ?? t('table.sort', { column: label })} onClick={onSort}>
          {label}
          <span className="sort-mark" aria-hidden="true">
            {{ ascending: '▴', descending: '▾', none: '' }[direction]}
          </span>
        </button>
      ) : isControl ? (
        <span className="hidden-label">{label}</span>
      ) : (
        label
      )}
    </th>
  )
}

function classOf<R>({ num, stays }: Column<R>, more?: string): string | undefined {
  return [num && 'num', stays && (stays === 'end' ? 'stays-end' : 'stays'), more].filter(Boolean).join(' ') || undefined
}

interface FrameProps {
  label: string
  name: string
  csv: () => TableData | Promise<TableData>
  /** The number of rows, if the table shows only the first ones. */
  total?: number
  /** Rows can be opened, so that the table needs more height. */
  hasDetails?: boolean
  className?: string
  children: ReactNode
}

/** The box of a table: its head stays while it scrolls, and its corner has the downloads. */
export function TableFrame({ label, name, csv, total, hasDetails = false, className = '', children }: FrameProps) {
  const box = useRef<HTMLDivElement>(null)
  return (
    <div className={`table-frame ${className}`}>
      <ExportMenu what={label} name={name} csv={csv} total={total} image={() => box.current?.querySelector('table') ?? null} />
      {/* A scrollable region must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={`table-box${hasDetails ? ' has-details' : ''}`} ref={box} tabIndex={0} role="group" aria-label={label}>
        {children}
      </div>
    </div>
  )
}

/** The file of these rows. */
export function fileOf<R>(columns: Column<R>[], rows: R[]): TableData {
  const written = columns.flatMap(({ id, sort, csv }) => (csv === null ? [] : Object.entries(csv ?? { [id]: sort }).flatMap(([name, value]) => (value ? [[name, value] as const] : []))))
  return { columns: written.map(([name]) => name), rows: rows.map((row) => written.map(([, value]) => value(row))) }
}

const COLLATOR = new Intl.Collator('en')

/** The rows in an order. Rows without a value come last, whichever the direction; equal rows keep their order. */
export function sortRows<R>(rows: R[], columns: Column<R>[], order: Order | null): R[] {
  const valueOf = columns.find((column) => column.id === order?.id)?.sort
  if (!order || !valueOf) return rows
  const sign = order.descending ? -1 : 1
  const isMissing = (value: unknown) => value == null || value === '' || Number.isNaN(value)
  return rows
    .map((row) => ({ row, value: valueOf(row) }))
    .sort(({ value: x }, { value: y }) => {
      if (isMissing(x) || isMissing(y)) return Number(isMissing(x)) - Number(isMissing(y))
      return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : COLLATOR.compare(String(x), String(y)))
    })
    .map(({ row }) => row)
}
