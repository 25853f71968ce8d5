// The market data of a session, by who read it, and when its newest item became known.
import { Link } from '@tanstack/react-router'
import type { Exposure } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import { dataAddress } from '../seenBy/places'
import type { NodeTable } from './desk'
import { bySeries, newestOf, readers } from './readers'
import css from './session.module.css'

interface Props {
  table: NodeTable
  reads: Exposure[]
  pending: boolean
  error: Error | null
  dataset: { name: string; hash: string } | null
  zone: string | null
  onGo: (path: string) => void
}

export function DataSeenView(props: Props) {
  const t = useText()
  const { table, reads, pending, error, dataset } = props
  if (pending) return <Loading />
  if (error && reads.length === 0) return <Failed error={error} />
  if (reads.length === 0) return <Empty title={t('shown.none')} />
  const { agent, after, books } = readers(table, reads)
  return (
    <div className="stack">
      {dataset && (
        <p className="panel-body second">
          {t('setup.dataset')}: <Link to="/app/data" search={{ dataset: dataset.hash }}>{dataset.name}</Link>
        </p>
      )}
      <Group {...props} title={t('reading.by.agent')} what={t('reading.by.agent.what')} reads={agent} isOpen />
      <Group {...props} title={t('reading.by.after')} what={t('reading.by.after.what')} reads={after} isOpen />
      <Group {...props} title={t('reading.by.books')} what={t('reading.by.books.what')} reads={books} isOpen={false} />
    </div>
  )
}

function Group({ title, what, reads, isOpen, dataset, zone, onGo }: Props & { title: string; what: string; isOpen: boolean }) {
  const t = useText()
  const format = useFormat()
  if (reads.length === 0) return null
  const columns: Column<ReturnType<typeof bySeries>[number]>[] = [
    {
      id: 'series',
      label: t('shown.series'),
      stays: true,
      sort: (one) => one.series,
      className: () => 'mono top',
      cell: (one) =>
        dataset ? (
          <Link to="/app/data" search={dataAddress(dataset.hash, one.series, one.first, one.last)}>
            {one.series}
          </Link>
        ) : (
          one.series
        ),
    },
    { id: 'reads', label: t('shown.reads'), num: true, sort: (one) => one.reads, className: () => 'top', cell: (one) => format.count(one.reads) },
    { id: 'max_rows', label: t('shown.most.rows'), num: true, sort: (one) => one.rows, className: () => 'top', cell: (one) => format.count(one.rows) },
    {
      id: 'span',
      label: t('shown.span'),
      sort: (one) => one.first,
      csv: { first_date: (one) => one.first, last_date: (one) => one.last },
      className: () => 'tnum nowrap top',
      cell: (one) => (one.first === one.last ? format.day(one.last) : format.span(one.first, one.last)),
    },
    { id: 'newest_known_at', label: t('shown.newest'), sort: (one) => one.known, className: () => 'tnum nowrap top', cell: (one) => format.instantIn(one.known, zone) },
    {
      id: 'paths',
      label: t('shown.by'),
      csv: { paths: (one) => [...new Set(one.paths)].join(' ') },
      className: () => 'mono quiet top',
      cell: (one) => (
        <span className="row wrap" title={one.paths.join('\n')}>
          {[...new Set(one.paths)].slice(0, 3).map((path) => (
            <button key={path} type="button" className="link-button" onClick={() => onGo(path)}>
              {path}
            </button>
          ))}
          {one.paths.length > 3 ? `+${one.paths.length - 3}` : ''}
        </span>
      ),
    },
  ]
  return (
    <details open={isOpen} data-readers={title}>
      <summary className={`panel-body row wrap ${css.fold}`}>
        <h2>{title}</h2>
        <span className="second tnum">
          {t('reading.reads', { count: reads.length })} · {t('reading.newest', { at: format.instantIn(newestOf(reads), zone) })}
        </span>
        <span className="quiet">{what}</span>
      </summary>
      <SortTable label={title} name="data-read" columns={columns} rows={bySeries(reads)} rowKey={(one) => one.series} />
    </details>
  )
}
