// The sessions that saw an item, with links to the messages in which they saw it.
import { shortId } from '@/shared/ids'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { seenBy, type ExposureFilter } from '@/server/queries'
import type { SeenByRead, SeenBySession } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { HouseTag, More } from '@/shared/ui/parts'
import { Failed, Loading } from '@/shared/ui/states'
import { nameOf, scopeOf } from './places'

interface Props {
  filter: ExposureFilter
  /** The exchange's time zone, for instants. */
  zone?: string | null | undefined
}

export function SeenBy({ filter, zone }: Props) {
  const t = useText()
  const query = useInfiniteQuery(seenBy(filter))
  const rows = query.data?.pages.flatMap((page) => page.sessions) ?? []
  if (query.isPending) return <Loading rows={3} />
  if (query.error && rows.length === 0) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (rows.length === 0) return <p className="panel-body second">{t('given.to.nobody')}</p>
  return (
    <div className="scroll-x">
      <table className="grid-table" aria-label={t('given.to')}>
        <thead>
          <tr>
            <th>{t('word.day')}</th>
            <th>{t('runs.agent')}</th>
            <th>{t('given.to.where')}</th>
            <th className="num">{t('given.to.times')}</th>
            <th>{t('shown.newest')}</th>
            <th>{t('given.to.run')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.session_id} row={row} zone={zone} />
          ))}
        </tbody>
      </table>
      <More has={query.hasNextPage} busy={query.isFetchingNextPage} onMore={() => void query.fetchNextPage()} />
    </div>
  )
}

function Row({ row, zone }: { row: SeenBySession; zone: Props['zone'] }) {
  const format = useFormat()
  const first = row.reads[0]
  // A step may have read it more than once, for example as bars and for an indicator.
  const steps = row.reads.filter((read, at) => row.reads.findIndex((other) => other.path === read.path) === at)
  const params = { jobId: row.job_id, date: row.date, model: row.model }
  return (
    <tr>
      <td className="tnum nowrap">
        <Link to="/app/runs/$jobId/$date/$model" params={params} search={searchOf(first)}>
          <time dateTime={row.date}>{format.day(row.date)}</time>
        </Link>
      </td>
      <td>
        <span className="row">
          {row.model} <HouseTag isLlm={row.is_llm} />
        </span>
      </td>
      <td>
        <span className="row nowrap" title={steps.map((read) => read.path).join('\n')}>
          {steps.slice(0, 1).map((read) => (
            <Link key={read.path} to="/app/runs/$jobId/$date/$model" params={params} search={searchOf(read)}>
              <Read read={read} />
            </Link>
          ))}
          {steps.length > 1 && <span className="quiet tnum">+{steps.length - 1}</span>}
        </span>
      </td>
      <td className="num">{format.count(row.read_count)}</td>
      <td className="tnum nowrap second">{format.instantIn(first?.known_at, zone)}</td>
      <td>
        <Link to="/app/runs/$jobId" params={{ jobId: row.job_id }} className="mono quiet" title={row.job_id}>
          {shortId(row.job_id)}
        </Link>
      </td>
    </tr>
  )
}

function Read({ read }: { read: SeenByRead }) {
  const t = useText()
  const word = useWord()
  return (
    <>
      {word('node', nameOf(read.path))} <span className="second mono">{read.tool ?? t('given.to.prompt')}</span>
    </>
  )
}

/** The search parameters that open a session at a read. */
function searchOf(read: SeenByRead | undefined): { node?: string; at?: string; symbol?: string } {
  if (!read) return {}
  const scope = scopeOf(read.path)
  const at = read.message_index == null ? read.path : String(read.message_index)
  const symbol = scope.includes('/') ? scope.slice(0, scope.indexOf('/')) : undefined
  return { node: scope, at, ...(symbol === undefined ? {} : { symbol }) }
}
