// The market data that a session read, and when its newest item became known.
import { Link } from '@tanstack/react-router'
import type { Exposure } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { dataAddress } from '../seenBy/places'
import { bySeries } from './lineage'

interface Props {
  reads: Exposure[]
  pending: boolean
  error: Error | null
  dataset: { name: string; hash: string } | null
  zone: string | null
  onGo: (path: string) => void
}

export function DataSeenView({ reads, pending, error, dataset, zone, onGo }: Props) {
  const t = useText()
  const format = useFormat()
  if (pending) return <Loading />
  if (error && reads.length === 0) return <Failed error={error} />
  if (reads.length === 0) return <Empty title={t('shown.none')} />
  return (
    <div className="scroll-x tall">
      <p className="panel-body second">
        {t('shown.what')}{' '}
        {dataset && (
          <Link to="/app/data" search={{ dataset: dataset.hash }}>
            {dataset.name}
          </Link>
        )}
      </p>
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
                {[...new Set(one.paths)].slice(0, 3).map((path) => (
                  <button key={path} type="button" className="link-button" onClick={() => onGo(path)}>
                    {path}
                  </button>
                ))}
                {one.paths.length > 3 ? ` +${one.paths.length - 3}` : ''}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
