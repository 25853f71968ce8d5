// The sessions that saw an item, with links to the messages in which they saw it.
import { shortId } from '@/shared/ids'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { seenBy, type ExposureFilter } from '@/server/queries'
import type { SeenByRead, SeenBySession } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { HouseTag } from '@/shared/ui/parts'
import { restOf } from '@/shared/ui/rest'
import { Failed, Loading } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import { nameOf, scopeOf } from './places'

interface Props {
  filter: ExposureFilter
  /** The exchange's time zone, for instants. */
  zone?: string | null | undefined
}

export function SeenBy({ filter, zone }: Props) {
  const t = useText()
  const format = useFormat()
  const query = useInfiniteQuery(seenBy(filter))
  const rows = query.data?.pages.flatMap((page) => page.sessions) ?? []
  if (query.isPending) return <Loading rows={3} />
  if (query.error && rows.length === 0) return <Failed error={query.error} retry={() => void query.refetch()} />
  if (rows.length === 0) return <p className="panel-body second">{t('given.to.nobody')}</p>
  const columns: Column<SeenBySession>[] = [
    {
      id: 'date',
      label: t('word.day'),
      sort: (row) => row.date,
      csv: { job_id: (row) => row.job_id, session_id: (row) => row.session_id, date: (row) => row.date },
      className: () => 'tnum nowrap',
      cell: (row) => (
        <Link to="/app/runs/$jobId/$date/$model" params={paramsOf(row)} search={searchOf(row.reads[0])}>
          <time dateTime={row.date}>{format.day(row.date)}</time>
        </Link>
      ),
    },
    {
      id: 'agent',
      label: t('runs.agent'),
      sort: (row) => row.model,
      csv: { agent: (row) => row.model, is_llm: (row) => row.is_llm },
      cell: (row) => (
        <span className="row">
          {row.model} <HouseTag isLlm={row.is_llm} />
        </span>
      ),
    },
    { id: 'paths', label: t('given.to.where'), csv: { paths: (row) => stepsOf(row).map((read) => read.path).join(' ') }, cell: (row) => <Reads row={row} /> },
    { id: 'reads', label: t('given.to.times'), num: true, sort: (row) => row.read_count, cell: (row) => format.count(row.read_count) },
    { id: 'known_at', label: t('shown.newest'), sort: (row) => row.reads[0]?.known_at, className: () => 'tnum nowrap second', cell: (row) => format.instantIn(row.reads[0]?.known_at, zone) },
    {
      id: 'run',
      label: t('given.to.run'),
      sort: (row) => row.job_id,
      csv: null,
      cell: (row) => (
        <Link to="/app/runs/$jobId" params={{ jobId: row.job_id }} className="mono quiet" title={row.job_id}>
          {shortId(row.job_id)}
        </Link>
      ),
    },
  ]
  return <SortTable label={t('given.to')} name="seen-by" columns={columns} rows={rows} rowKey={(row) => String(row.session_id)} rest={restOf(query, (page) => page.sessions)} />
}

const paramsOf = (row: SeenBySession) => ({ jobId: row.job_id, date: row.date, model: row.model })

/** A step may have read it more than once, for example as bars and for an indicator. */
const stepsOf = ({ reads }: SeenBySession) => reads.filter((read, at) => reads.findIndex((other) => other.path === read.path) === at)

function Reads({ row }: { row: SeenBySession }) {
  const steps = stepsOf(row)
  return (
    <span className="row nowrap" title={steps.map((read) => read.path).join('\n')}>
      {steps.slice(0, 1).map((read) => (
        <Link key={read.path} to="/app/runs/$jobId/$date/$model" params={paramsOf(row)} search={searchOf(read)}>
          <Read read={read} />
        </Link>
      ))}
      {steps.length > 1 && <span className="quiet tnum">+{steps.length - 1}</span>}
    </span>
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
