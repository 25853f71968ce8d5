// The market data of a session, by who read it, and when its newest item became known.
import { Link } from '@tanstack/react-router'
import type { Exposure } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { ScrollX } from '@/shared/ui/scroll'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { dataAddress } from '../seenBy/places'
import { bySeries } from './lineage'
import { newestOf, readers } from './readers'
import css from './session.module.css'

interface Props {
  reads: Exposure[]
  pending: boolean
  error: Error | null
  dataset: { name: string; hash: string } | null
  zone: string | null
  onGo: (path: string) => void
}

export function DataSeenView(props: Props) {
  const t = useText()
  const { reads, pending, error, dataset } = props
  if (pending) return <Loading />
  if (error && reads.length === 0) return <Failed error={error} />
  if (reads.length === 0) return <Empty title={t('shown.none')} />
  const { agent, after, books } = readers(reads)
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
  return (
    <details open={isOpen} data-readers={title}>
      <summary className={`panel-body row wrap ${css.fold}`}>
        <h2>{title}</h2>
        <span className="second tnum">
          {t('reading.reads', { count: reads.length })} · {t('reading.newest', { at: format.instantIn(newestOf(reads), zone) })}
        </span>
        <span className="quiet">{what}</span>
      </summary>
      <ScrollX label={title}>
        <table className="grid-table">
          <thead>
            <tr>
              <th>{t('shown.series')}</th>
              <th className="num">{t('shown.reads')}</th>
              <th className="num">{t('shown.most.rows')}</th>
              <th>{t('shown.span')}</th>
              <th>{t('shown.newest')}</th>
              <th>{t('shown.by')}</th>
            </tr>
          </thead>
          <tbody>
            {bySeries(reads).map((one) => (
              <tr key={one.series}>
                <td className="mono top">
                  {dataset ? (
                    <Link to="/app/data" search={dataAddress(dataset.hash, one.series, one.first, one.last)}>
                      {one.series}
                    </Link>
                  ) : (
                    one.series
                  )}
                </td>
                <td className="num top">{format.count(one.reads)}</td>
                <td className="num top">{format.count(one.rows)}</td>
                <td className="tnum nowrap top">{one.first === one.last ? format.day(one.last) : format.span(one.first, one.last)}</td>
                <td className="tnum nowrap top">{format.instantIn(one.known, zone)}</td>
                <td className="mono quiet top" title={one.paths.join('\n')}>
                  <span className="row wrap">
                    {[...new Set(one.paths)].slice(0, 3).map((path) => (
                      <button key={path} type="button" className="link-button" onClick={() => onGo(path)}>
                        {path}
                      </button>
                    ))}
                    {one.paths.length > 3 ? `+${one.paths.length - 3}` : ''}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollX>
    </details>
  )
}
