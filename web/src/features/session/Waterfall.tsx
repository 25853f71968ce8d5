// The timing of each node, or of each call of a conversation.
import { useMemo, useRef, useState } from 'react'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useReasons } from '@/shared/i18n/codes'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { More } from '@/shared/ui/parts'
import type { Node } from './desk'
import css from './session.module.css'

/** Rows per page: a long conversation has thousands of calls. */
const ROWS = 300

interface Row {
  key: string
  scope: string
  label: string
  bars: { start: number; end: number; className: string; title: string }[]
  duration: number
}

interface Props {
  nodes: Node[]
  selected: string | null
  onSelect: (scope: string | null) => void
  /** One row per call instead of one per node, for a single conversation. */
  byCall: boolean
}

export function Waterfall({ nodes, selected, onSelect, byCall }: Props) {
  const t = useText()
  const word = useWord()
  const reasons = useReasons()
  const format = useFormat()
  const rows = useMemo<Row[]>(() => {
    const timed = nodes.filter((node) => node.start !== null)
    const barClass = (node: Node, open: boolean) =>
      `bar${node.llm === 'deep' ? ' deep' : ''}${node.state === 'degraded' ? ' degraded' : ''}${open ? ' open' : ''}`
    if (byCall) {
      return timed.flatMap((node) =>
        node.calls.map((call) => ({
          key: call.path,
          scope: node.scope,
          label: node.decides ? call.path.slice(node.scope.length + 1) : call.path,
          bars: [{ start: call.start, end: call.end, className: barClass(node, call.open), title: call.path }],
          duration: call.end - call.start,
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
            ? [{ start: node.start ?? 0, end: node.end ?? 0, className: barClass(node, false), title: node.reason === null ? '' : reasons.why(node.reason) }]
            : node.calls.map((call) => ({ start: call.start, end: call.end, className: barClass(node, call.open), title: call.path })),
        duration: (node.end ?? 0) - (node.start ?? 0),
      }))
  }, [nodes, byCall, word, reasons])
  const total = rows.reduce((max, row) => row.bars.reduce((end, bar) => Math.max(end, bar.end), max), 1)
  const [count, setCount] = useState(ROWS)
  const box = useRef<HTMLDivElement>(null)
  const csv = () => ({
    columns: ['node', 'call', 'start_ms', 'end_ms'],
    rows: rows.flatMap((row) => row.bars.map((bar) => [row.scope, bar.title, bar.start, bar.end])),
  })

  if (rows.length === 0) return <p className="panel-body quiet">{t('waterfall.none')}</p>
  return (
    <div className={css.waterfallBox}>
      <div className="chart-tools row">
        <ExportMenu what={t('waterfall.label')} name="timing" csv={csv} image={() => box.current} />
      </div>
      <div className={css.waterfall} role="group" aria-label={t('waterfall.label')} ref={box}>
        {rows.slice(0, count).map((row) => (
          <div key={row.key} className={`${css.waterfallRow}${selected === row.scope && !byCall ? ' selected' : ''}`}>
            <button type="button" className="clip" onClick={() => onSelect(selected === row.scope ? null : row.scope)}>
              {row.label}
            </button>
            <span className={css.waterfallTrack} aria-hidden="true">
              {row.bars.map((bar) => (
                <span
                  key={bar.title + bar.start}
                  className={bar.className}
                  title={bar.title}
                  style={{ left: `${(bar.start / total) * 100}%`, width: `${((bar.end - bar.start) / total) * 100}%` }}
                />
              ))}
            </span>
            <span className="num second">{format.duration(row.duration / 1000)}</span>
          </div>
        ))}
      </div>
      <More has={rows.length > count} busy={false} onMore={() => setCount(count + ROWS)} />
      <p className={`${css.waterfallFoot} quiet tnum`}>
        <span>0</span>
        <span>{format.duration(total / 1000)}</span>
      </p>
    </div>
  )
}
