// Company fundamentals and macroeconomic values as published, with the sessions that saw each of them.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { fundamentals as fundamentalsQuery, macros as macrosQuery, type ExposureFilter } from '@/server/queries'
import type { Dataset, FundamentalItem, MacroItem } from '@/server/types'
import { fileName } from '@/shared/fileName'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { type Rest, restOf } from '@/shared/ui/rest'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import { SeenBy } from '../seenBy/SeenBy'
import { NoData } from './News'
import { SymbolPick } from './SymbolPick'
import css from './data.module.css'

export function Fundamentals({ dataset }: { dataset: Dataset }) {
  const t = useText()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const symbol = search.symbol !== undefined && dataset.symbols.includes(search.symbol) ? search.symbol : ''
  const query = useInfiniteQuery(fundamentalsQuery(dataset.hash, { symbol: symbol || undefined }))
  const rowOf = (row: FundamentalItem): Row => ({
    id: `${row.symbol} ${row.metric} ${row.period_end} ${row.published_at}`,
    of: row.symbol,
    name: row.metric,
    period: row.period_end,
    value: row.value,
    unit: row.unit,
    publishedAt: row.published_at,
    filter: { kind: 'fundamental', dataset: dataset.hash, symbol: row.symbol, metric: row.metric, period: row.period_end, published_at: row.published_at },
  })
  const rowsOf = (page: { fundamentals: FundamentalItem[] }) => page.fundamentals.map(rowOf)
  if (dataset.fundamentals === 0) return <NoData label={t('data.fundamentals')} />
  return (
    <>
      <div className={`${css.panelTools} row wrap`}>
        <SymbolPick dataset={dataset} value={symbol} all={t('data.all')} onChange={(value) => void navigate({ search: (now) => ({ ...now, dataset: dataset.hash, symbol: value || undefined, item: undefined }), replace: true })} />
      </div>
      <Table
        dataset={dataset}
        query={query}
        label={t('data.fundamentals')}
        kind="fundamentals"
        first={t('word.symbol')}
        rows={query.data?.pages.flatMap(rowsOf) ?? []}
        rest={restOf(query, rowsOf)}
      />
    </>
  )
}

export function Macros({ dataset }: { dataset: Dataset }) {
  const t = useText()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const query = useInfiniteQuery(macrosQuery(dataset.hash, { series: search.series }))
  const rowOf = (row: MacroItem): Row => ({
    id: `${row.series} ${row.period} ${row.published_at}`,
    of: row.series,
    name: null,
    period: row.period,
    value: row.value,
    unit: row.unit,
    publishedAt: row.published_at,
    filter: { kind: 'macro', dataset: dataset.hash, series: row.series, period: row.period, published_at: row.published_at },
  })
  const rowsOf = (page: { macros: MacroItem[] }) => page.macros.map(rowOf)
  if (dataset.macros === 0) return <NoData label={t('data.macros')} />
  return (
    <>
      {search.series && (
        <div className={`${css.panelTools} row wrap`}>
          <button type="button" className="button small" onClick={() => void navigate({ search: (now) => ({ ...now, series: undefined, item: undefined }), replace: true })}>
            {search.series} ×
          </button>
        </div>
      )}
      <Table
        dataset={dataset}
        query={query}
        label={t('data.macros')}
        kind="macros"
        first={t('shown.series')}
        rows={query.data?.pages.flatMap(rowsOf) ?? []}
        rest={restOf(query, rowsOf)}
      />
    </>
  )
}

interface Row {
  id: string
  of: string
  name: string | null
  period: string
  value: number
  unit: string
  publishedAt: string
  filter: ExposureFilter
}

interface TableProps {
  dataset: Dataset
  label: string
  /** The name of its files. */
  kind: string
  first: string
  rows: Row[]
  rest: Rest<Row>
  query: { isPending: boolean; error: Error | null; refetch: () => unknown }
}

function Table({ dataset, label, kind, first, rows, rest, query }: TableProps) {
  const t = useText()
  const format = useFormat()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  if (query.isPending) return <Loading />
  if (query.error && rows.length === 0) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (rows.length === 0) return <Empty title={t('data.figures.none')} />
  const isOpen = (row: Row) => search.item === row.id
  const metric: Column<Row>[] = rows.some((row) => row.name !== null) ? [{ id: 'metric', label: t('data.metric'), sort: (row) => row.name, className: () => 'mono', cell: (row) => row.name }] : []
  const columns: Column<Row>[] = [
    { id: kind === 'macros' ? 'series' : 'symbol', label: first, stays: true, sort: (row) => row.of, cell: (row) => row.of },
    ...metric,
    { id: 'period', label: t('data.period'), sort: (row) => row.period, className: () => 'tnum nowrap', cell: (row) => format.day(row.period) },
    { id: 'value', label: t('data.value'), num: true, sort: (row) => row.value, cell: (row) => format.quantity(row.value) },
    { id: 'unit', label: t('data.unit'), sort: (row) => row.unit, className: () => 'second', cell: (row) => row.unit },
    { id: 'published_at', label: t('data.published'), sort: (row) => row.publishedAt, className: () => 'tnum nowrap second', cell: (row) => format.instantIn(row.publishedAt, dataset.zone) },
    {
      id: 'seen_by',
      label: t('given.to'),
      isControl: true,
      csv: null,
      num: true,
      cell: (row) => (
        <button type="button" className="link-button nowrap" aria-expanded={isOpen(row)} onClick={() => void navigate({ search: (now) => ({ ...now, item: isOpen(row) ? undefined : row.id }), replace: true, resetScroll: false })}>
          {t('given.to')}
        </button>
      ),
    },
  ]
  return (
    <SortTable
      label={label}
      name={fileName(kind, dataset.name)}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.id}
      rest={rest}
      detail={(row) => isOpen(row) && <SeenBy filter={row.filter} zone={dataset.zone} />}
    />
  )
}
