// The lineage of a fill: order, decision, contributing nodes, market data seen, recalled memories.
import type { ReactNode } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lineage as lineageQuery } from '@/server/sessions'
import type { Lineage, LineageMemory, LineageMessage, Session, Trade } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { Failed, Loading } from '@/shared/ui/states'
import { JsonView, parseJson } from '@/transcript/JsonView'
import { dataAddress } from '../seenBy/places'
import { Numbers } from './Numbers'
import { nameOfMemory } from './RecalledMemories'
import css from './session.module.css'

interface Props {
  session: Session
  trade: Trade
  market: string | null
  /** The dataset's content hash, and its exchange's zone. */
  dataset: string
  zone: string | null
  onGo: (path: string) => void
  /** Opens a recalled memory. */
  onMemory: (memory: LineageMemory) => void
}

export function LineageView(props: Props) {
  const { session, trade } = props
  const query = useQuery(lineageQuery(session.job_id, session.session_id, trade.action_id))
  if (query.isPending) return <Loading />
  if (!query.data) return <Failed error={query.error} retry={() => void query.refetch()} />
  return <Stages {...props} lineage={query.data} />
}

function Stages({ session, trade, lineage, market, dataset, zone, onGo, onMemory }: Props & { lineage: Lineage }) {
  const t = useText()
  const code = useCode()
  const word = useWord()
  const format = useFormat()
  const { order } = lineage
  // Steps and messages are of the session that placed the order.
  const elsewhere = order && order.session_id !== session.session_id ? order.session_id : null
  const go = { elsewhere, onGo }
  return (
    <ol className={css.lineage} aria-label={t('lineage.title')}>
      <Stage name={t('lineage.fill')}>
        {word('side', trade.action_type)} {format.quantity(trade.quantity)} {trade.symbol} @ {format.price(trade.price)}
        <span className="quiet"> · {t('lineage.cash', { cash: format.money(trade.cash_after, market) })}</span>
      </Stage>
      <Stage name={t('lineage.order')}>
        {order ? (
          <>
            {elsewhere !== null && <span className="second">{t('lineage.elsewhere', { date: format.day(order.date) })} </span>}
            {order.path != null && <Place path={order.path} {...go} isMono />} <span className="quiet">#{order.order_id}</span>
            {order.reason && <p>{order.reason}</p>}
            {lineage.cuts.map((cut) => (
              <div key={cut.code + cut.message}>
                <span title={cut.code}>{code('cut', cut.code)}</span> <Numbers numbers={cut.numbers} />
              </div>
            ))}
          </>
        ) : (
          <span className="second">
            {t('lineage.by.books')} {lineage.path != null && <Place path={lineage.path} {...go} isMono />}
          </span>
        )}
      </Stage>
      {lineage.decision && (
        <Stage name={t('lineage.decision')}>
          <Opinion message={lineage.decision} {...go} isLong />
        </Stage>
      )}
      {lineage.contributing.length > 0 && (
        <Stage name={t('lineage.before')}>
          {lineage.contributing.map((message) => (
            <Opinion key={message.path} message={message} {...go} />
          ))}
        </Stage>
      )}
      {lineage.exposures.length > 0 && (
        <Stage name={t('lineage.shown')}>
          <ul className={css.lineageShown}>
            {lineage.exposures.map((read) => (
              <li key={read.series}>
                <Link to="/app/data" search={dataAddress(dataset, read.series, read.first_date, read.last_date)} className="mono">
                  {read.series}
                </Link>{' '}
                <span className="second tnum">
                  {t('shown.rows', { rows: read.rows })} · {read.first_date === read.last_date ? format.day(read.last_date) : format.span(read.first_date, read.last_date)}
                </span>{' '}
                <span className="quiet">{t('shown.known', { at: format.instantIn(read.latest_known_at, zone) })}</span>{' '}
                <Place path={read.path} {...go}>
                  {t('lineage.read')}
                </Place>
              </li>
            ))}
          </ul>
        </Stage>
      )}
      <Stage name={t('lineage.memory')}>
        {lineage.memories.length === 0 ? (
          <span className="second">{t('lineage.memory.none')}</span>
        ) : (
          <ul className={css.lineageShown}>
            {lineage.memories.map((memory) => (
              <li key={`${memory.path} ${nameOfMemory(memory)}`}>
                <Memory memory={memory} elsewhere={elsewhere} onMemory={onMemory} />
                <span className={`${css.clip2} second`}>{memory.text}</span>
              </li>
            ))}
          </ul>
        )}
      </Stage>
    </ol>
  )
}

function Stage({ name, children }: { name: string; children: ReactNode }) {
  return (
    <li>
      <h2>{name}</h2>
      <div>{children}</div>
    </li>
  )
}

interface Go {
  /** The session of the steps, if it is another one. */
  elsewhere: number | null
  onGo: (path: string) => void
}

/** A link to a step. */
function Place({ path, elsewhere, onGo, isMono, children }: Go & { path: string; isMono?: boolean; children?: ReactNode }) {
  const className = isMono ? 'link-button mono' : 'link-button'
  if (elsewhere !== null) {
    return (
      <Link to="/app/sessions/$sessionId" params={{ sessionId: String(elsewhere) }} search={{ at: path }} className={isMono ? 'mono' : undefined} title={path}>
        {children ?? path}
      </Link>
    )
  }
  return (
    <button type="button" className={className} title={path} onClick={() => onGo(path)}>
      {children ?? path}
    </button>
  )
}

function Memory({ memory, elsewhere, onMemory }: { memory: LineageMemory; elsewhere: number | null; onMemory: Props['onMemory'] }) {
  const word = useWord()
  const name = `${word('memory', memory.memory_type)} ${memory.memory_id}`
  if (elsewhere !== null) {
    return (
      <Link to="/app/sessions/$sessionId" params={{ sessionId: String(elsewhere) }} search={{ view: 'memory', item: nameOfMemory(memory) }}>
        {name}
      </Link>
    )
  }
  return (
    <button type="button" className="link-button" onClick={() => onMemory(memory)}>
      {name}
    </button>
  )
}

function Opinion({ message, isLong, ...go }: Go & { message: LineageMessage; isLong?: boolean }) {
  const word = useWord()
  const json = parseJson(message.content)
  return (
    <div className={css.lineageWords}>
      <Place path={message.path} {...go}>
        {word('node', message.node)}
      </Place>
      {json === undefined ? <p className={isLong ? css.clip4 : css.clip2}>{message.content.replace(/[*#`]/g, '')}</p> : <JsonView value={json} />}
    </div>
  )
}
