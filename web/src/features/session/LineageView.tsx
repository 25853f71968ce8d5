// A fill's way back: order, decision, who led to it, what they were shown, what was remembered.
import type { ReactNode } from 'react'
import { Link as To } from '@tanstack/react-router'
import type { Trade } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { JsonView, parseJson } from '@/transcript/JsonView'
import { dataPlace } from '../shown/places'
import { bySeries, type Lineage, type Link } from './lineage'
import { Numbers } from './OrdersView'

interface Props {
  trade: Trade
  lineage: Lineage
  market: string | null
  /** The dataset's content hash, and its exchange's zone. */
  dataset: string
  zone: string | null
  onGo: (path: string) => void
  /** Leads to a memory that was given. */
  onMemory: (memory: Lineage['memories'][number]) => void
}

export function LineageView({ trade, lineage, market, dataset, zone, onGo, onMemory }: Props) {
  const t = useText()
  const code = useCode()
  const word = useWord()
  const format = useFormat()
  const series = bySeries(lineage.shown)
  return (
    <ol className="lineage" aria-label={t('lineage.title')}>
      <Stop name={t('lineage.fill')}>
        {word('side', trade.action_type)} {format.quantity(trade.quantity)} {trade.symbol} @ {format.price(trade.price)}
        <span className="quiet"> · {t('lineage.cash', { cash: format.money(trade.cash_after, market) })}</span>
      </Stop>
      <Stop name={t('lineage.order')}>
        {lineage.orderPath ? (
          <>
            {lineage.elsewhere ? (
              <To to="/app/sessions/$sessionId" params={{ sessionId: String(lineage.elsewhere.session_id) }} search={{ at: lineage.orderPath } as never}>
                {t('lineage.elsewhere', { date: format.day(lineage.elsewhere.date) })} <span className="mono">{lineage.orderPath}</span>
              </To>
            ) : (
              <Path path={lineage.orderPath} onGo={onGo} />
            )}{' '}
            <span className="quiet">#{trade.order_id}</span>
            {lineage.reason && <p>{lineage.reason}</p>}
            {lineage.cuts.map((cut) => (
              <div key={cut.code + cut.message}>
                <span title={cut.code}>{code('cut', cut.code)}</span> <Numbers numbers={cut.numbers} />
              </div>
            ))}
          </>
        ) : (
          <span className="second">
            {t('lineage.by.books')} {lineage.fillPath && <Path path={lineage.fillPath} onGo={onGo} />}
          </span>
        )}
      </Stop>
      {lineage.decision && (
        <Stop name={t('lineage.decision')}>
          <Words link={lineage.decision} onGo={onGo} long />
        </Stop>
      )}
      {lineage.before.length > 0 && (
        <Stop name={t('lineage.before')}>
          {lineage.before.map((link) => (
            <Words key={link.path} link={link} onGo={onGo} />
          ))}
        </Stop>
      )}
      {series.length > 0 && (
        <Stop name={t('lineage.shown')}>
          <ul className="lineage-shown">
            {series.map((one) => (
              <li key={one.series}>
                <To to="/app/data" search={dataPlace(dataset, one.series, one.first, one.last)} className="mono">
                  {one.series}
                </To>{' '}
                <span className="second tnum">
                  {t('shown.rows', { rows: one.rows })} · {one.first === one.last ? one.last : `${one.first} – ${one.last}`}
                </span>{' '}
                <span className="quiet">{t('shown.known', { at: format.instantIn(one.known, zone) })}</span>{' '}
                {one.paths.length > 0 && <Path path={one.paths[0] ?? ''} onGo={onGo} label={t('lineage.read')} />}
              </li>
            ))}
          </ul>
        </Stop>
      )}
      <Stop name={t('lineage.memory')}>
        {lineage.memories.length === 0 ? (
          <span className="second">{t('lineage.memory.none')}</span>
        ) : (
          <ul className="lineage-shown">
            {lineage.memories.map((item) => (
              <li key={`${item.memory_type} ${item.memory_id}`}>
                <button type="button" className="link-button" onClick={() => onMemory(item)}>
                  {word('memory', item.memory_type)} {item.memory_id}
                </button>
                <span className="clip-2 second">{item.text}</span>
              </li>
            ))}
          </ul>
        )}
      </Stop>
    </ol>
  )
}

function Stop({ name, children }: { name: string; children: ReactNode }) {
  return (
    <li>
      <h3>{name}</h3>
      <div>{children}</div>
    </li>
  )
}

function Path({ path, onGo, label }: { path: string; onGo: Props['onGo']; label?: string }) {
  return (
    <button type="button" className={label ? 'link-button' : 'link-button mono'} title={path} onClick={() => onGo(path)}>
      {label ?? path}
    </button>
  )
}

function Words({ link, onGo, long }: { link: Link; onGo: Props['onGo']; long?: boolean }) {
  const word = useWord()
  const json = parseJson(link.text)
  return (
    <div className="lineage-words">
      <button type="button" className="link-button" onClick={() => onGo(link.path)}>
        {word('node', link.name)}
      </button>
      {json === undefined ? <p className={long ? 'clip-4' : 'clip-2'}>{link.text.replace(/[*#`]/g, '')}</p> : <JsonView value={json} />}
    </div>
  )
}
