// The desk as a graph: phases from left to right, each node with its state and duration.
import type { RefObject } from 'react'
import { useFormat } from '@/shared/format'
import { textOr, useText, useWord } from '@/shared/i18n'
import { useReasons } from '@/shared/i18n/codes'
import { type Node, phaseTotal } from './desk'
import css from './session.module.css'

interface Props {
  nodes: Node[]
  phases: string[]
  selected: string | null
  onSelect: (scope: string | null) => void
  /** The drawn graph, for its image. */
  box: RefObject<HTMLDivElement | null>
}

export function DeskGraph({ nodes, phases, selected, onSelect, box }: Props) {
  const t = useText()
  const format = useFormat()
  return (
    <div className={css.graph} role="group" aria-label={t('desk.graph')} ref={box}>
      {phases.map((phase) => {
        const own = nodes.filter((node) => node.phase === phase)
        if (own.length === 0) return null
        const took = phaseTotal(own, phase)
        return (
          <section key={phase} className={css.graphPhase} aria-label={textOr(t, `phase.${phase}`, phase)}>
            <h3>
              {textOr(t, `phase.${phase}`, phase)}
              <span className="tnum">{took > 0 ? format.duration(took / 1000) : ''}</span>
            </h3>
            {own.map((node) => (
              <NodeCard key={node.scope} node={node} selected={selected === node.scope} onSelect={onSelect} />
            ))}
          </section>
        )
      })}
    </div>
  )
}

function NodeCard({ node, selected, onSelect }: { node: Node; selected: boolean; onSelect: Props['onSelect'] }) {
  const t = useText()
  const word = useWord()
  const reasons = useReasons()
  const format = useFormat()
  const took = node.start !== null && node.end !== null ? format.duration((node.end - node.start) / 1000) : null
  const state = { ok: took ?? t('node.done'), degraded: node.reason === null ? t('quality.degraded') : reasons.why(node.reason), running: t('status.running'), waiting: t('node.waiting') }[node.state]
  return (
    <button
      type="button"
      className={`${css.node} ${node.state}`}
      aria-pressed={selected}
      data-scope={node.scope}
      title={node.reason === null ? undefined : `${reasons.why(node.reason)} (${node.reason})`}
      onClick={() => onSelect(selected ? null : node.scope)}
    >
      <b className="clip">
        {word('node', node.name)}
        {node.round > 1 && <span className="quiet"> · {node.round}</span>}
      </b>
      <small className="clip tnum">
        {state}
        {node.state === 'degraded' && took ? ` · ${took}` : ''}
        {node.state === 'ok' && node.outputTokens > 0 ? ` · ${format.compact(node.inputTokens)}→${format.compact(node.outputTokens)}` : ''}
      </small>
    </button>
  )
}
