// Every model call: what was sent, what came back, tokens, cost and how it ended.
import { useState } from 'react'
import type { Message, Step } from '@/server/types'
import type { TableData } from '@/shared/csv'
import { ABSENT, useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { CopyButton } from '@/shared/ui/copy'
import { More, Tag } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { TableFrame } from '@/shared/ui/table'
import { MessageText } from '@/transcript/MessageText'
import { requestOf, responseOf, textOfRequest } from './calls'
import { placeOf } from './desk'
import type { Reading } from './useReading'
import css from './session.module.css'

/** Rows per page: a long conversation has thousands of calls. */
const ROWS = 200
/** The newest messages of a request that are shown at once. */
const PARTS = 20

/** The model calls of the selected node, or of the instrument. Those of summaries, after the session, are not listed. */
export function modelCalls({ steps, desk }: Pick<Reading, 'steps' | 'desk'>): Step[] {
  return steps.ofNode.filter((step) => {
    if (step.kind !== 'model' || step.detached) return false
    const { symbol } = placeOf(step.path)
    return desk.selected !== null || symbol === null || symbol === desk.symbol
  })
}

export function CallsView({ reading }: { reading: Reading }) {
  const t = useText()
  const { steps } = reading
  const calls = modelCalls(reading)
  const [count, setCount] = useState(ROWS)
  const [open, setOpen] = useState<string | null>(null)
  if (steps.isPending) return <Loading />
  if (steps.error && calls.length === 0) return <Failed error={steps.error} />
  if (calls.length === 0) return <Empty title={t('calls.none')} />
  return (
    <>
      <p className="panel-body second">{t('calls.what')}</p>
      <TableFrame label={t('reading.view.calls')} name="model-calls" csv={() => fileOf(calls)} total={calls.length} hasDetails>
        <table className="grid-table">
          <thead>
            <tr>
              <th>{t('calls.call')}</th>
              <th>{t('calls.model')}</th>
              <th>{t('calls.outcome')}</th>
              <th className="num">{t('calls.input')}</th>
              <th className="num">{t('calls.output')}</th>
              <th className="num">{t('runs.cost')}</th>
              <th className="num">{t('calls.took')}</th>
            </tr>
          </thead>
          <tbody>
            {calls.slice(0, count).map((call) => (
              <Call key={call.path} call={call} isOpen={open === call.path} onToggle={() => setOpen(open === call.path ? null : call.path)} reading={reading} />
            ))}
          </tbody>
        </table>
      </TableFrame>
      <More has={calls.length > count} busy={false} onMore={() => setCount(count + ROWS)} />
    </>
  )
}

function fileOf(calls: Step[]): TableData {
  return {
    columns: ['path', 'model', 'state', 'outcome', 'finish_reason', 'attempts', 'interrupted', 'reused_from', 'input_tokens', 'output_tokens', 'estimated_calls', 'cost_usd', 'started_at', 'ended_at'],
    rows: calls.map((call) => [
      call.path, call.model, call.state, call.outcome, call.finish_reason, call.attempts, call.interrupted, call.reused_from,
      call.input_tokens, call.output_tokens, call.estimated_calls, call.cost_usd, call.started_at, call.ended_at,
    ]),
  }
}

interface CallProps {
  call: Step
  isOpen: boolean
  onToggle: () => void
  reading: Reading
}

function Call({ call, isOpen, onToggle, reading }: CallProps) {
  const t = useText()
  const word = useWord()
  const code = useCode()
  const format = useFormat()
  const place = placeOf(call.path)
  const seconds = call.ended_at ? (Date.parse(call.ended_at) - Date.parse(call.started_at)) / 1000 : null
  const isOk = call.outcome === 'ok'
  return (
    <>
      <tr>
        <td>
          <button type="button" className="link-button" aria-expanded={isOpen} onClick={onToggle}>
            {word('node', place.name)} · <span className="mono">{call.path.slice(place.scope.length + 1)}</span>
          </button>
        </td>
        <td className="mono">{call.model ?? ABSENT}</td>
        <td>
          <span className="row wrap">
            {isOk ? <Finish reason={call.finish_reason} /> : <Tag kind="warn" title={call.outcome ?? call.state}>{call.outcome ? code('outcome', call.outcome) : code('step_state', call.state)}</Tag>}
            {call.reused_from && <Tag title={call.reused_from}>{t('tape.reused')}</Tag>}
            {call.attempts > 1 && <Tag kind="warn">{t('tape.attempts', { count: call.attempts })}</Tag>}
            {call.interrupted > 0 && <Tag kind="warn">{t('tape.interrupted', { count: call.interrupted })}</Tag>}
          </span>
        </td>
        <td className="num" title={call.estimated_calls > 0 ? t('run.estimated', { count: call.estimated_calls }) : undefined}>
          {call.estimated_calls > 0 && '~'}
          {format.count(call.input_tokens)}
        </td>
        <td className="num">{format.count(call.output_tokens)}</td>
        <td className="num">{call.cost_usd == null ? t('cost.unknown') : format.cost(call.cost_usd)}</td>
        <td className="num">{seconds === null ? ABSENT : format.duration(seconds)}</td>
      </tr>
      {isOpen && (
        <tr data-detail="">
          <td colSpan={7} className={css.call}>
            <Documents call={call} reading={reading} />
          </td>
        </tr>
      )}
    </>
  )
}

/** Why a response ended. A truncated or blocked one is marked. */
function Finish({ reason }: { reason: string | null | undefined }) {
  const code = useCode()
  if (reason == null) return code('outcome', 'ok')
  const text = code('finish_reason', reason)
  return reason === 'stop' || reason === 'tool_calls' ? text : <Tag kind="warn" title={reason}>{text}</Tag>
}

function Documents({ call, reading: { session, conversation, goTo } }: { call: Step; reading: Reading }) {
  const t = useText()
  const [count, setCount] = useState(PARTS)
  const messages = session.conversation ?? []
  const request = requestOf(call.path, messages, conversation.instructions)
  const response = responseOf(call.path, messages)
  const hidden = Math.max(0, request.messages.length - count)
  return (
    <div className={css.documents}>
      <section aria-label={t('calls.request')}>
        <header className="row wrap">
          <h2>{t('calls.request')}</h2>
          <span className="quiet">{t('calls.request.what', { count: request.messages.length })}</span>
          <CopyButton text={() => textOfRequest(request)} describes={t('calls.request.copy')} />
        </header>
        {request.system !== null && (
          <details>
            <summary className={`second row ${css.fold}`}>{t('session.instructions')}</summary>
            <MessageText text={request.system} />
          </details>
        )}
        {hidden > 0 && (
          <button type="button" className="button small plain" onClick={() => setCount(count + 4 * PARTS)}>
            {t('calls.earlier', { count: hidden })}
          </button>
        )}
        {request.messages.slice(hidden).map((message) => (
          <Part key={message.message_index} message={message} isLast={message === request.messages[request.messages.length - 1]} />
        ))}
      </section>
      <section aria-label={t('calls.response')}>
        <header className="row wrap">
          <h2>{t('calls.response')}</h2>
          {response && <CopyButton text={response.content} describes={t('calls.response.copy')} />}
          <button type="button" className="link-button" onClick={() => goTo(call.path)}>
            {t('lineage.show')}
          </button>
        </header>
        {response ? response.content === '' ? <p className="quiet">{t('transcript.no.words')}</p> : <MessageText text={response.content} /> : <p className="second">{t('calls.response.none')}</p>}
      </section>
    </div>
  )
}

/** A message of a request. Its text is rendered when it is first opened. */
function Part({ message, isLast }: { message: Message; isLast: boolean }) {
  const word = useWord()
  const [opened, setOpened] = useState(isLast)
  return (
    <details open={isLast} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary className={`row ${css.fold}`}>
        <b>{message.tool_name ?? word('role', message.role)}</b>
        <span className="clip quiet">{message.content.slice(0, 160)}</span>
      </summary>
      {opened && <MessageText text={message.content} plain={message.role === 'tool'} />}
    </details>
  )
}
