// When each node, or each call of a conversation, was at work.
import { useMemo, useState } from 'react'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useReasons } from '@/shared/i18n/codes'
import { More } from '@/shared/ui/parts'
import { DEEP, type Node } from './desk'

/** So many rows at a time: a long conversation has thousands of calls. */
const ROWS = 300

interface Row {
  key: string
  scope: string
  label: string
  bars: { start: number; end: number; look: string; title: string }[]
  took: number
}

interface Props {
  nodes: Node[]
  selected: string | null
  onSelect: (scope: string | null) => void
  /** A row for each call instead of each node: of one conversation. */
  byCall: boolean
}

export function Waterfall({ nodes, selected, onSelect, byCall }: Props) {
  const t = useText()
  const word = useWord()
  const reasons = useReasons()
  const format = useFormat()
  const rows = useMemo<Row[]>(() => {
    const timed = nodes.filter((node) => node.start !== null)
    const lookOf = (node: Node, open: boolean) =>
      `bar${DEEP.has(node.name) ? ' deep' : ''}${node.state === 'degraded' ? ' degraded' : ''}${open ? ' open' : ''}`
    if (byCall) {
      return timed.flatMap((node) =>
        node.calls.map((call) => ({
          key: call.path,
          scope: node.scope,
          label: call.path.replace(/^solo#1\//, ''),
          bars: [{ start: call.start, end: call.end, look: lookOf(node, call.open), title: call.path }],
          took: call.end - call.start,
        })),
      )
    }
    return timed
      .sort((a, b) => (a.start ?? 0) - (b.start ?? 0))
      .map((node) => ({
        key: node.scope,
        scope: node.scope,
        label: `${word('node', node.name)}${node.round > 1 ? ` · ${node.round}` : ''}`,
        bars:
          node.state === 'degraded'
            ? [{ start: node.start ?? 0, end: node.end ?? 0, look: lookOf(node, false), title: node.reason === null ? '' : reasons.why(node.reason) }]
            : node.calls.map((call) => ({ start: call.start, end: call.end, look: lookOf(node, call.open), title: call.path })),
        took: (node.end ?? 0) - (node.start ?? 0),
      }))
  }, [nodes, byCall, word, reasons])
  const whole = rows.reduce((most, row) => row.bars.reduce((end, bar) => Math.max(end, bar.end), most), 1)
  const [count, setCount] = useState(ROWS)

  if (rows.length === 0) return <p className="panel-body quiet">{t('waterfall.none')}</p>
  return (
    <div className="waterfall-box">
      <div className="waterfall" role="group" aria-label={t('waterfall.label')}>
        {rows.slice(0, count).map((row) => (
          <div key={row.key} className={`waterfall-row${selected === row.scope && !byCall ? ' selected' : ''}`}>
            <button type="button" className="clip" onClick={() => onSelect(selected === row.scope ? null : row.scope)}>
              {row.label}
            </button>
            <span className="waterfall-track" aria-hidden="true">
              {row.bars.map((bar) => (
                <span
                  key={bar.title + bar.start}
                  className={bar.look}
                  title={bar.title}
                  style={{ left: `${(bar.start / whole) * 100}%`, width: `${((bar.end - bar.start) / whole) * 100}%` }}
                />
              ))}
            </span>
            <span className="num second">{format.duration(row.took / 1000)}</span>
          </div>
        ))}
      </div>
      <More has={rows.length > count} busy={false} onMore={() => setCount(count + ROWS)} />
      <p className="waterfall-foot quiet tnum">
        <span>0</span>
        <span>{format.duration(whole / 1000)}</span>
      </p>
    </div>
  )
}
