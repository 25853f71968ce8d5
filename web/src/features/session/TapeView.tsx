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
import css from './session.module.css'

interface Props {
  steps: Step[]
  pending: boolean
  error: Error | null
  /** The step to scroll to. */
  at?: string | undefined
}

export function TapeView({ steps, pending, error, at }: Props) {
  const t = useText()
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
      <div className={css.tape} ref={box} tabIndex={0} role="region" aria-label={t('session.tape')}>
        <div role="table" aria-label={t('session.tape')} aria-rowcount={steps.length + 1}>
          <Head />
          <div role="rowgroup" className="transcript-space" style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map((row) => {
              const step = steps[row.index]
              return step && <Row key={row.key} step={step} index={row.index} start={row.start} isMarked={row.index === marked} />
            })}
          </div>
        </div>
      </div>
    </>
  )
}

function Head() {
  const t = useText()
  return (
    <div role="rowgroup" className={css.tapeHead}>
      <div role="row" aria-rowindex={1} className={css.tapeNames}>
        <span role="columnheader" className={`num ${css.tapeSeq}`} title={t('tape.seq.what')}>
          {t('tape.seq')}
        </span>
        <span role="columnheader" className={css.tapeStep}>
          {t('tape.step')}
        </span>
        <span role="columnheader" className={css.tapeKind}>
          {t('tape.kind')}
        </span>
        <span role="columnheader" className={`num ${css.tapeTokens}`} title={t('tape.tokens.what')}>
          {t('tape.tokens')}
        </span>
        <span role="columnheader" className={`num ${css.tapeTook}`}>
          {t('calls.took')}
        </span>
        <span role="columnheader" className={css.tapeHash}>
          {t('tape.hash')}
        </span>
      </div>
    </div>
  )
}

interface RowProps {
  step: Step
  index: number
  /** Its distance from the first row. */
  start: number
  isMarked: boolean
}

function Row({ step, index, start, isMarked }: RowProps) {
  const t = useText()
  const code = useCode()
  const format = useFormat()
  const seconds = step.ended_at ? (Date.parse(step.ended_at) - Date.parse(step.started_at)) / 1000 : null
  const failed = step.outcome != null && step.outcome !== 'ok'
  return (
    <div role="row" aria-rowindex={index + 2} className={`${css.tapeRow}${isMarked ? ' marked' : ''}`} aria-current={isMarked ? 'true' : undefined} style={{ transform: `translateY(${start}px)` }}>
      <span role="cell" className={`quiet num ${css.tapeSeq}`}>
        {step.seq ?? ''}
      </span>
      <span role="cell" className={css.tapeStep}>
        <span className="mono clip" title={step.path}>
          {step.path}
        </span>
        {step.reused_from && <Tag title={step.reused_from}>{t('tape.reused')}</Tag>}
        {step.attempts > 1 && <Tag kind="warn">{t('tape.attempts', { count: step.attempts })}</Tag>}
        {step.interrupted > 0 && <Tag kind="warn">{t('tape.interrupted', { count: step.interrupted })}</Tag>}
        {(failed || step.state !== 'done') && <Tag kind="warn" title={step.outcome ?? step.state}>{step.outcome ? code('outcome', step.outcome) : code('step_state', step.state)}</Tag>}
      </span>
      <span role="cell" className={`second ${css.tapeKind}`}>
        {step.kind}
      </span>
      <span role="cell" className={`num second ${css.tapeTokens}`}>
        {step.input_tokens + step.output_tokens > 0 ? `${format.compact(step.input_tokens)}→${format.compact(step.output_tokens)}` : ''}
      </span>
      <span role="cell" className={`num second ${css.tapeTook}`}>
        {seconds === null ? '' : format.duration(seconds)}
      </span>
      <span role="cell" className={css.tapeHash}>
        <code className="quiet" title={step.hash ?? step.digest}>
          {(step.hash ?? step.digest).slice(0, 8)}
        </code>
      </span>
    </div>
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
