// The steps of a session's tape.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import type { Step } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { useFormat } from '@/shared/format'
import { useText } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { Tag } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'

interface Props {
  steps: Step[]
  pending: boolean
  error: Error | null
  /** The step to scroll to. */
  at?: string | undefined
}

export function TapeView({ steps, pending, error, at }: Props) {
  const t = useText()
  const code = useCode()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({ count: steps.length, getScrollElement: () => box.current, estimateSize: () => 26, overscan: 20 })
  const marked = at === undefined ? -1 : steps.findIndex((step) => step.path === at)
  useEffect(() => {
    if (marked >= 0) rows.scrollToIndex(marked, { align: 'center' })
    // Scroll only once.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [marked])
  if (pending) return <Loading />
  if (error && steps.length === 0) return <Failed error={error} />
  if (steps.length === 0) return <Empty title={t('tape.none')} />
  return (
    <>
      <div className="chart-tools row">
        <ExportMenu what={t('session.tape')} name="tape" csv={() => fileOf(steps)} />
      </div>
      {/* A scrollable region must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="tape" ref={box} tabIndex={0} role="region" aria-label={t('session.tape')}>
        <div className="transcript-space" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const step = steps[row.index]
            if (!step) return null
            const seconds = step.ended_at ? (Date.parse(step.ended_at) - Date.parse(step.started_at)) / 1000 : null
            const failed = step.outcome != null && step.outcome !== 'ok'
            return (
              <div key={row.key} className={`tape-row${row.index === marked ? ' marked' : ''}`} aria-current={row.index === marked ? 'true' : undefined} style={{ transform: `translateY(${row.start}px)` }}>
                <span className="quiet num tape-seq">{step.seq ?? ''}</span>
                <span className="mono clip grow" title={step.path}>
                  {step.path}
                </span>
                <span className="second">{step.kind}</span>
                {step.reused_from && <Tag title={step.reused_from}>{t('tape.reused')}</Tag>}
                {step.attempts > 1 && <Tag kind="warn">{t('tape.attempts', { count: step.attempts })}</Tag>}
                {step.interrupted > 0 && <Tag kind="warn">{t('tape.interrupted', { count: step.interrupted })}</Tag>}
                {failed || step.state !== 'done' ? <Tag kind="warn" title={step.outcome ?? step.state}>{step.outcome ? code('outcome', step.outcome) : code('step_state', step.state)}</Tag> : null}
                <span className="num second tape-tokens">{step.input_tokens + step.output_tokens > 0 ? `${format.compact(step.input_tokens)}→${format.compact(step.output_tokens)}` : ''}</span>
                <span className="num second tape-took">{seconds === null ? '' : format.duration(seconds)}</span>
                <code className="quiet tape-hash" title={step.hash ?? step.digest}>
                  {(step.hash ?? step.digest).slice(0, 8)}
                </code>
              </div>
            )
          })}
        </div>
      </div>
    </>
  )
}

function fileOf(steps: Step[]): TableData {
  return {
    columns: ['seq', 'path', 'kind', 'state', 'outcome', 'attempts', 'interrupted', 'reused_from', 'started_at', 'ended_at', 'input_tokens', 'output_tokens', 'cost_usd', 'digest', 'hash'],
    rows: steps.map((step) => [
      step.seq, step.path, step.kind, step.state, step.outcome, step.attempts, step.interrupted, step.reused_from,
      step.started_at, step.ended_at, step.input_tokens, step.output_tokens, step.cost_usd, step.digest, step.hash,
    ]),
  }
}
