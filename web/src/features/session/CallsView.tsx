// Every model call: what was sent, what came back, tokens, cost and how it ended.
import { useState } from 'react'
import type { Message, Step } from '@/server/types'
import { ABSENT, useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'
import { useCode } from '@/shared/i18n/codes'
import { CopyButton } from '@/shared/ui/copy'
import { Tag } from '@/shared/ui/parts'
import { Empty, Failed, Loading } from '@/shared/ui/states'
import { type Column, SortTable } from '@/shared/ui/table'
import { MessageText } from '@/transcript/MessageText'
import { requestOf, responseOf, textOfRequest } from './calls'
import { placeOf } from './desk'
import type { Reading } from './useReading'
import css from './session.module.css'

/** The newest messages of a request that are shown at once. */
const PARTS = 20

/** The model calls of the selected node, or of the instrument, and those of the summaries, which belong to no instrument. */
export function modelCalls({ steps, desk }: Pick<Reading, 'steps' | 'desk'>): Step[] {
  return steps.ofNode.filter((step) => {
    if (step.kind !== 'model') return false
    const { symbol } = placeOf(step.path)
    return desk.selected !== null || symbol === null || symbol === desk.symbol
  })
}

const millisecondsOf = (call: Step) => (call.ended_at ? Date.parse(call.ended_at) - Date.parse(call.started_at) : null)

export function CallsView({ reading }: { reading: Reading }) {
  const t = useText()
  const word = useWord()
  const code = useCode()
  const format = useFormat()
  const { steps } = reading
  const calls = modelCalls(reading)
  const [open, setOpen] = useState<string | null>(null)
  if (steps.isPending) return <Loading />
  if (steps.error && calls.length === 0) return <Failed error={steps.error} />
  if (calls.length === 0) return <Empty title={t('calls.none')} />
  const isOpen = (call: Step) => open === call.path
  const nameOf = (call: Step) => {
    const place = placeOf(call.path)
    const path = <span className="mono">{call.detached ? call.path : call.path.slice(place.scope.length + 1)}</span>
    return call.detached ? path : <>{word('node', place.name)} · {path}</>
  }
  const columns: Column<Step>[] = [
    {
      id: 'call',
      label: t('calls.call'),
      stays: true,
      sort: (call) => Date.parse(call.started_at),
      csv: { path: (call) => call.path, is_summary: (call) => call.detached },
      cell: (call) => (
        <span className="row wrap">
          <button type="button" className="link-button" aria-expanded={isOpen(call)} onClick={() => setOpen(isOpen(call) ? null : call.path)}>
            {nameOf(call)}
          </button>
          {call.detached && <Tag title={t('calls.summary.what')}>{t('calls.summary')}</Tag>}
        </span>
      ),
    },
    { id: 'model', label: t('calls.model'), sort: (call) => call.model, className: () => 'mono', cell: (call) => call.model ?? ABSENT },
    {
      id: 'outcome',
      label: t('calls.outcome'),
      sort: (call) => (call.outcome === 'ok' ? code('finish_reason', call.finish_reason ?? 'stop') : (call.outcome ?? call.state)),
      csv: {
        state: (call) => call.state,
        outcome: (call) => call.outcome,
        finish_reason: (call) => call.finish_reason,
        attempts: (call) => call.attempts,
        interrupted: (call) => call.interrupted,
        reused_from: (call) => call.reused_from,
      },
      cell: (call) => <Outcome call={call} />,
    },
    {
      id: 'input_tokens',
      label: t('calls.input'),
      num: true,
      sort: (call) => call.input_tokens,
      csv: { input_tokens: (call) => call.input_tokens, output_tokens: (call) => call.output_tokens, estimated_calls: (call) => call.estimated_calls },
      cell: (call) => (
        <span title={call.estimated_calls > 0 ? t('run.estimated', { count: call.estimated_calls }) : undefined}>
          {call.estimated_calls > 0 && '~'}
          {format.count(call.input_tokens)}
        </span>
      ),
    },
    { id: 'output_tokens', label: t('calls.output'), num: true, sort: (call) => call.output_tokens, csv: null, cell: (call) => format.count(call.output_tokens) },
    { id: 'cost_usd', label: t('runs.cost'), num: true, sort: (call) => call.cost_usd, cell: (call) => (call.cost_usd == null ? t('cost.unknown') : format.cost(call.cost_usd)) },
    {
      id: 'took',
      label: t('calls.took'),
      num: true,
      sort: millisecondsOf,
      csv: { started_at: (call) => call.started_at, ended_at: (call) => call.ended_at },
      cell: (call) => {
        const milliseconds = millisecondsOf(call)
        return milliseconds === null ? ABSENT : format.duration(milliseconds / 1000)
      },
    },
  ]
  return (
    <>
      <p className="panel-body second">{t('calls.what')}</p>
      <SortTable
        label={t('reading.view.calls')}
        name="model-calls"
        columns={columns}
        rows={calls}
        rowKey={(call) => call.path}
        detail={(call) => isOpen(call) && (call.detached ? <Summary call={call} reading={reading} /> : <Documents call={call} reading={reading} />)}
      />
    </>
  )
}

/** How a call ended, and what it took. */
function Outcome({ call }: { call: Step }) {
  const t = useText()
  const code = useCode()
  return (
    <span className="row wrap">
      {call.outcome === 'ok' ? <Finish reason={call.finish_reason} /> : <Tag kind="warn" title={call.outcome ?? call.state}>{call.outcome ? code('outcome', call.outcome) : code('step_state', call.state)}</Tag>}
      {call.reused_from && <Tag title={call.reused_from}>{t('tape.reused')}</Tag>}
      {call.attempts > 1 && <Tag kind="warn">{t('tape.attempts', { count: call.attempts })}</Tag>}
      {call.interrupted > 0 && <Tag kind="warn">{t('tape.interrupted', { count: call.interrupted })}</Tag>}
    </span>
  )
}

/** The messages of a summary's call are not in the transcript. */
function Summary({ call, reading: { goTo } }: { call: Step; reading: Reading }) {
  const t = useText()
  return (
    <p className="second">
      {t('calls.summary.what')}{' '}
      <button type="button" className="link-button" onClick={() => goTo(call.path)}>
        {t('lineage.show')}
      </button>
    </p>
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
