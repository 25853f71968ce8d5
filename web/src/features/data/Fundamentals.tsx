// Company fundamentals and macroeconomic values as published, with the sessions that saw each of them.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { fundamentals as fundamentalsQuery, macros as macrosQuery, type ExposureFilter } from '@/server/queries'
import type { Dataset } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { More } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { SeenBy } from '../seenBy/SeenBy'
import { NoData } from './News'
import { SymbolPick } from './SymbolPick'

export function Fundamentals({ dataset }: { dataset: Dataset }) {
  const t = useText()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const symbol = search.symbol !== undefined && dataset.symbols.includes(search.symbol) ? search.symbol : ''
  const query = useInfiniteQuery(fundamentalsQuery(dataset.hash, { symbol: symbol || undefined }))
  const rows = query.data?.pages.flatMap((page) => page.fundamentals) ?? []
  if (dataset.fundamentals === 0) return <NoData label={t('data.fundamentals')} />
  return (
    <>
      <div className="panel-tools row wrap">
        <SymbolPick dataset={dataset} value={symbol} all={t('data.all')} onChange={(value) => void navigate({ search: (now) => ({ ...now, dataset: dataset.hash, symbol: value || undefined, item: undefined }), replace: true })} />
      </div>
      <Table
        dataset={dataset}
        query={query}
        first={t('word.symbol')}
        rows={rows.map((row) => ({
          id: `${row.symbol} ${row.metric} ${row.period_end} ${row.published_at}`,
          of: row.symbol,
          name: row.metric,
          period: row.period_end,
          value: row.value,
          unit: row.unit,
          publishedAt: row.published_at,
          filter: { kind: 'fundamental', dataset: dataset.hash, symbol: row.symbol, metric: row.metric, period: row.period_end, published_at: row.published_at },
        }))}
      />
    </>
  )
}

export function Macros({ dataset }: { dataset: Dataset }) {
  const t = useText()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const query = useInfiniteQuery(macrosQuery(dataset.hash, { series: search.series }))
  const rows = query.data?.pages.flatMap((page) => page.macros) ?? []
  if (dataset.macros === 0) return <NoData label={t('data.macros')} />
  return (
    <>
      {search.series && (
        <div className="panel-tools row wrap">
          <button type="button" className="button small" onClick={() => void navigate({ search: (now) => ({ ...now, series: undefined, item: undefined }), replace: true })}>
            {search.series} ×
          </button>
        </div>
      )}
      <Table
        dataset={dataset}
        query={query}
        first={t('shown.series')}
        rows={rows.map((row) => ({
          id: `${row.series} ${row.period} ${row.published_at}`,
          of: row.series,
          name: null,
          period: row.period,
          value: row.value,
          unit: row.unit,
          publishedAt: row.published_at,
          filter: { kind: 'macro', dataset: dataset.hash, series: row.series, period: row.period, published_at: row.published_at },
        }))}
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
  first: ReactNode
  rows: Row[]
  query: { isPending: boolean; error: Error | null; refetch: () => unknown; hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}

function Table({ dataset, first, rows, query }: TableProps) {
  const t = useText()
  const format = useFormat()
  const navigate = useNavigate({ from: '/app/data' })
  const search = useSearch({ from: '/app/data' })
  const hasMetric = rows.some((row) => row.name !== null)
  if (query.isPending) return <Loading />
  if (query.error && rows.length === 0) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (rows.length === 0) return <Empty title={t('data.figures.none')} />
  return (
    <div className="scroll-x">
      <table className="grid-table">
        <thead>
          <tr>
            <th>{first}</th>
            {hasMetric && <th>{t('data.metric')}</th>}
            <th>{t('data.period')}</th>
            <th className="num">{t('data.value')}</th>
            <th>{t('data.unit')}</th>
            <th>{t('data.published')}</th>
            <th>
              <span className="hidden-label">{t('given.to')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const open = search.item === row.id
            return (
              <Fragment key={row.id}>
                <tr>
                  <td>{row.of}</td>
                  {hasMetric && <td className="mono">{row.name}</td>}
                  <td className="tnum nowrap">{row.period}</td>
                  <td className="num">{format.quantity(row.value)}</td>
                  <td className="second">{row.unit}</td>
                  <td className="tnum nowrap second">{format.instantIn(row.publishedAt, dataset.zone)}</td>
                  <td className="num">
                    <button type="button" className="link-button nowrap" aria-expanded={open} onClick={() => void navigate({ search: (now) => ({ ...now, item: open ? undefined : row.id }), replace: true, resetScroll: false })}>
                      {t('given.to')}
                    </button>
                  </td>
                </tr>
                {open && (
                  <tr className="lineage-row">
                    <td colSpan={hasMetric ? 7 : 6}>
                      <SeenBy filter={row.filter} zone={dataset.zone} />
                    </td>
                  </tr>
                )}
              </Fragment>
            )
          })}
        </tbody>
      </table>
      <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
    </div>
  )
}
