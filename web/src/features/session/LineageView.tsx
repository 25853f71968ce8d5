// The lineage of a fill: order, decision, contributing nodes, market data seen, recalled memories.
import type { ReactNode } from 'react'
import { Link as To } from '@tanstack/react-router'
import type { Trade } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { JsonView, parseJson } from '@/transcript/JsonView'
import { dataAddress } from '../seenBy/places'
import { bySeries, type Lineage, type Link } from './lineage'
import { Numbers } from './Numbers'

interface Props {
  trade: Trade
  lineage: Lineage
  market: string | null
  /** The dataset's content hash, and its exchange's zone. */
  dataset: string
  zone: string | null
  onGo: (path: string) => void
  /** Opens a recalled memory. */
  onMemory: (memory: Lineage['memories'][number]) => void
}

export function LineageView({ trade, lineage, market, dataset, zone, onGo, onMemory }: Props) {
  const t = useText()
  const code = useCode()
  const word = useWord()
  const format = useFormat()
  const series = bySeries(lineage.reads)
  return (
    <ol className="lineage" aria-label={t('lineage.title')}>
      <Stage name={t('lineage.fill')}>
        {word('side', trade.action_type)} {format.quantity(trade.quantity)} {trade.symbol} @ {format.price(trade.price)}
        <span className="quiet"> · {t('lineage.cash', { cash: format.money(trade.cash_after, market) })}</span>
      </Stage>
      <Stage name={t('lineage.order')}>
        {lineage.orderPath ? (
          <>
            {lineage.otherSession ? (
              <To to="/app/sessions/$sessionId" params={{ sessionId: String(lineage.otherSession.session_id) }} search={{ at: lineage.orderPath } as never}>
                {t('lineage.elsewhere', { date: format.day(lineage.otherSession.date) })} <span className="mono">{lineage.orderPath}</span>
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
      </Stage>
      {lineage.decision && (
        <Stage name={t('lineage.decision')}>
          <Opinion link={lineage.decision} onGo={onGo} long />
        </Stage>
      )}
      {lineage.before.length > 0 && (
        <Stage name={t('lineage.before')}>
          {lineage.before.map((link) => (
            <Opinion key={link.path} link={link} onGo={onGo} />
          ))}
        </Stage>
      )}
      {series.length > 0 && (
        <Stage name={t('lineage.shown')}>
          <ul className="lineage-shown">
            {series.map((entry) => (
              <li key={entry.series}>
                <To to="/app/data" search={dataAddress(dataset, entry.series, entry.first, entry.last)} className="mono">
                  {entry.series}
                </To>{' '}
                <span className="second tnum">
                  {t('shown.rows', { rows: entry.rows })} · {entry.first === entry.last ? format.day(entry.last) : format.span(entry.first, entry.last)}
                </span>{' '}
                <span className="quiet">{t('shown.known', { at: format.instantIn(entry.known, zone) })}</span>{' '}
                {entry.paths.length > 0 && <Path path={entry.paths[0] ?? ''} onGo={onGo} label={t('lineage.read')} />}
              </li>
            ))}
          </ul>
        </Stage>
      )}
      <Stage name={t('lineage.memory')}>
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

function Path({ path, onGo, label }: { path: string; onGo: Props['onGo']; label?: string }) {
  return (
    <button type="button" className={label ? 'link-button' : 'link-button mono'} title={path} onClick={() => onGo(path)}>
      {label ?? path}
    </button>
  )
}

function Opinion({ link, onGo, long }: { link: Link; onGo: Props['onGo']; long?: boolean }) {
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
