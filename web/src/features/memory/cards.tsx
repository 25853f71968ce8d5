// Cards of the memory view.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { ExposureFilter } from '@/server/queries'
import type { Archive, OpenPosition, Reflection, Round } from '@/server/types'
import { useRunZone } from '@/server/zone'
import { signClass, useFormat } from '@/shared/format'
import { textOr, useText, useWord } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import { Loading } from '@/shared/ui/states'
import { JsonView } from '@/transcript/JsonView'
import { SeenBy } from '../seenBy/SeenBy'
import css from './memory.module.css'

/** The agent and day of a memory, as a link to the session. */
function Origin({ jobId, model, at }: { jobId: string; model: string; at: string }) {
  const format = useFormat()
  const date = at.slice(0, 10)
  return (
    <Link to="/app/runs/$jobId/$date/$model" params={{ jobId, date, model }} className="quiet nowrap">
      {model} · {format.day(date)}
    </Link>
  )
}

type Memory = ExposureFilter & { job_id: string }

interface CardProps {
  head: ReactNode
  /** The memory, for the list of sessions that saw it. */
  memory?: Memory
  marked?: boolean | undefined
  children: ReactNode
}

function Card({ head, memory, marked, children }: CardProps) {
  const t = useText()
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLElement>(null)
  useEffect(() => {
    if (marked) box.current?.scrollIntoView({ block: 'center' })
  }, [marked])
  return (
    <article ref={box} className={`panel ${css.card}${marked ? ' marked' : ''}${open ? ' wide' : ''}`} aria-current={marked ? 'true' : undefined}>
      <header className="row wrap">{head}</header>
      {children}
      {memory && (
        <div>
          <button type="button" className="link-button" aria-expanded={open} onClick={() => setOpen(!open)}>
            {t('given.to')}
          </button>
        </div>
      )}
      {open && memory && <MemorySeenBy memory={memory} />}
    </article>
  )
}

/** The sessions that saw a memory, with times of the exchange that its run trades on. */
function MemorySeenBy({ memory }: { memory: Memory }) {
  const { zone, isLoading } = useRunZone(memory.job_id)
  return isLoading ? <Loading rows={3} /> : <SeenBy filter={memory} zone={zone} />
}

interface RowProps<T> {
  row: T
  /** The market of its run, for the currency; without it, amounts have no currency. */
  market?: string | undefined
  marked?: boolean
}

export function ReflectionCard({ row, market = '', marked }: RowProps<Reflection>) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const deviation = row.execution_deviation
  return (
    <Card
      marked={marked}
      memory={{ kind: 'trade', memory_id: String(row.trade_id), job_id: row.job_id, model: row.model }}
      head={
        <>
          <b>{row.symbol}</b>
          <span className={`act ${row.side}`}>{word('side', row.side)}</span>
          <span className={`tnum ${signClass(row.pnl)}`}>{format.gain(row.pnl, market)}</span>
          {row.return_pct != null && <span className={`tnum ${signClass(row.return_pct)}`}>{format.change(row.return_pct / 100)}</span>}
          <span className="second tnum">{t('memory.held', { days: row.holding_days })}</span>
          <span className="grow" />
          <Origin jobId={row.job_id} model={row.model} at={row.exit_time} />
        </>
      }
    >
      <p className={css.cardLead}>{row.summary}</p>
      {row.next_rules.length > 0 && (
        <ul className="rules">
          {row.next_rules.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
      )}
      <div className="row wrap">
        <Tag>{word('value', row.value_assessment)}</Tag>
        <Tag>{word('cause', row.cause)}</Tag>
        {row.error_tags.map((tag) => (
          <Tag key={tag} kind="warn">
            {word('tag', tag)}
          </Tag>
        ))}
        {row.source !== 'model' && <Tag title={row.note ?? undefined}>{word('source', row.source)}</Tag>}
      </div>
      <details>
        <summary className="second">{t('memory.more')}</summary>
        <div className="stack">
          {row.thesis && (
            <section>
              <h3>{t('memory.thesis')}</h3>
              <pre>{row.thesis}</pre>
            </section>
          )}
          {row.hypothesis_check.length > 0 && (
            <section>
              <h3>{t('memory.claims')}</h3>
              {row.hypothesis_check.map((claim) => (
                <p key={claim.claim}>
                  <Tag kind={claim.result === 'failed' ? 'bad' : undefined}>{textOr(t, `claim.${claim.result}`, claim.result)}</Tag> {claim.claim}
                </p>
              ))}
            </section>
          )}
          <section>
            <h3>{t('memory.deviation')}</h3>
            <table className="grid-table">
              <thead>
                <tr>
                  <th> </th>
                  <th className="num">{t('memory.planned')}</th>
                  <th className="num">{t('memory.actual')}</th>
                </tr>
              </thead>
              <tbody>
                {(
                  [
                    [t('memory.entry'), deviation.planned_entry, deviation.actual_entry, false],
                    [t('memory.size'), deviation.planned_size, deviation.actual_size, true],
                    [t('memory.stop'), deviation.planned_stop, deviation.actual_stop, false],
                    [t('memory.exit'), deviation.planned_exit, deviation.actual_exit, false],
                  ] as const
                ).map(([name, planned, actual, isSize]) => (
                  <tr key={name}>
                    <td>{name}</td>
                    <td className="num">{isSize ? format.quantity(planned) : format.price(planned)}</td>
                    <td className="num">{isSize ? format.quantity(actual) : format.price(actual)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {deviation.comment && <p className="second">{deviation.comment}</p>}
          </section>
        </div>
      </details>
    </Card>
  )
}

export function OpenCard({ row, marked }: RowProps<OpenPosition>) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  return (
    <Card
      marked={marked}
      memory={{ kind: 'open_position_context', memory_id: row.position_id, job_id: row.job_id, model: row.model }}
      head={
        <>
          <b>{row.symbol}</b>
          <span className={`act ${row.side}`}>{word('side', row.side)}</span>
          <span className="tnum">
            {format.quantity(row.quantity)} @ {format.price(row.entry_price)}
          </span>
          {row.stop_loss != null && <span className="second tnum">{t('memory.stop.at', { price: format.price(row.stop_loss) })}</span>}
          {row.leverage > 1 && <Tag>×{row.leverage}</Tag>}
          <span className="grow" />
          <Origin jobId={row.job_id} model={row.model} at={row.opened_at} />
        </>
      }
    >
      <pre>{row.summary}</pre>
    </Card>
  )
}

export function RoundCard({ row, marked }: RowProps<Round>) {
  const t = useText()
  const word = useWord()
  return (
    <Card
      marked={marked}
      memory={{ kind: 'trader_round', memory_id: String(row.round_id), job_id: row.job_id, model: row.model }}
      head={
        <>
          <b>{t('memory.round', { round: row.round_id })}</b>
          {row.assets.map((asset) => (
            <Tag key={asset.symbol}>
              {asset.symbol} {word('decision', asset.decision)}
            </Tag>
          ))}
          {row.degraded && <Tag kind="warn">{t('quality.degraded')}</Tag>}
          {row.source !== 'model' && <Tag title={row.note ?? undefined}>{word('source', row.source)}</Tag>}
          <span className="grow" />
          <Origin jobId={row.job_id} model={row.model} at={row.known_at} />
        </>
      }
    >
      <pre>{row.summary}</pre>
      <details>
        <summary className="second">{t('memory.situation')}</summary>
        <pre>{row.situation}</pre>
      </details>
    </Card>
  )
}

export function ArchiveCard({ row }: { row: Archive }) {
  return (
    <Card
      head={
        <>
          <b>{row.symbol}</b>
          <Tag>{row.period}</Tag>
          <span className="grow" />
          <Link to="/app/runs/$jobId" params={{ jobId: row.job_id }} className="quiet">
            {row.model}
          </Link>
        </>
      }
    >
      <JsonView value={row.body} />
    </Card>
  )
}
