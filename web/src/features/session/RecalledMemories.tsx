// The memories recalled in this session, verbatim, and the other sessions that saw them.
import { shortId } from '@/shared/ids'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { RecalledItem, RecalledBlock, Session, SeenByResponse } from '@/server/types'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { Tag } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { SeenBy } from '../seenBy/SeenBy'
import css from './session.module.css'

interface Props {
  recalled: RecalledBlock[] | undefined
  error: Error | null
  session: Session
  zone: string | null
  /** The memory to scroll to: `trade 3`. */
  item: string | undefined
  onGo: (path: string) => void
}

/** A memory's name within the session. */
export function nameOfMemory(item: Pick<RecalledItem, 'memory_type' | 'memory_id'>): string {
  return `${item.memory_type} ${item.memory_id}`
}

export function RecalledMemories({ recalled, error, session, zone, item: target, onGo }: Props) {
  const t = useText()
  if (error && !recalled) return <Failed error={error} />
  if (!recalled) return <Loading />
  if (recalled.every((one) => one.items.length === 0)) {
    return (
      <Empty title={t('memory.given.none')}>
        <p className="second">{t('memory.given.none.why')}</p>
      </Empty>
    )
  }
  return (
    <div className={`panel-body stack ${css.tall}`}>
      {recalled.map((one) => (
        <section key={one.path} className="stack">
          <h2>
            <button type="button" className="link-button mono" onClick={() => onGo(one.path)}>
              {one.path}
            </button>
          </h2>
          {one.items.map((item) => (
            <Item key={nameOfMemory(item)} item={item} session={session} zone={zone} marked={nameOfMemory(item) === target} />
          ))}
          <details>
            <summary className="second">{t('memory.given.whole')}</summary>
            <pre>{one.text}</pre>
          </details>
        </section>
      ))}
    </div>
  )
}

const MEMORIES = ['trader_round', 'open_position_context', 'trade'] as const satisfies SeenByResponse['kind'][]

const TAB: Record<string, string | undefined> = { trader_round: 'rounds', open_position_context: 'open' }

function Item({ item, session, zone, marked }: { item: RecalledItem; session: Session; zone: string | null; marked: boolean }) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const [open, setOpen] = useState(false)
  const box = useRef<HTMLElement>(null)
  useEffect(() => {
    if (marked) box.current?.scrollIntoView({ block: 'nearest' })
  }, [marked])
  const owner = item.job_id ?? session.job_id
  const kind = MEMORIES.find((one) => one === item.memory_type)
  return (
    <article ref={box} className={`${css.memoryItem}${marked ? ' marked' : ''}`} aria-current={marked ? 'true' : undefined}>
      <div className="row wrap">
        <Tag>{word('memory', item.memory_type)}</Tag>
        <Link to="/app/memory" search={{ tab: TAB[item.memory_type], job: owner, model: session.model, id: item.memory_id }} className="mono">
          {item.memory_id}
        </Link>
        <span className="quiet">{t('shown.known', { at: format.instantIn(item.known_at, zone) })}</span>
        {item.job_id && <Tag>{t('memory.given.from', { job: shortId(item.job_id) })}</Tag>}
        <span className="grow" />
        <button type="button" className="link-button" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t('given.to')}
        </button>
      </div>
      <pre>{item.text}</pre>
      {open && kind && <SeenBy filter={{ kind, memory_id: item.memory_id, job_id: owner, model: session.model }} zone={zone} />}
    </article>
  )
}
