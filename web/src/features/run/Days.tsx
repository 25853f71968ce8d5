// The days of a run as strips, one per agent. A long run shows months first.
import { useNavigate } from '@tanstack/react-router'
import { type RefObject, useCallback, useMemo, useState } from 'react'
import { type Cell, DayStrip } from '@/charts/DayStrip'
import { Swatch } from '@/charts/Swatch'
import { seriesStyle } from '@/charts/tokens'
import { address } from '@/server/client'
import type { AgentCurve, Curves } from '@/server/types'
import { type Format, useFormat } from '@/shared/format'
import { shortId } from '@/shared/ids'
import { type Translate, useText, useWord } from '@/shared/i18n'
import { ExportMenu } from '@/shared/ui/exportMenu'
import { HouseTag, Segments } from '@/shared/ui/parts'
import { cellOf, type Day, daysOf, isSkipped, MAX_DAYS, monthsOf, scaleOf } from './curves'
import css from './run.module.css'

/** With more periods than this, a list replaces the buttons. */
const MAX_BUTTONS = 16
const MONTHS = 'months'

interface Props {
  jobId: string
  curves: Curves
  /** The element with the strips, used to mark a day. */
  box: RefObject<HTMLDivElement | null>
}

export function Days({ jobId, curves, box }: Props) {
  const t = useText()
  const long = curves.dates.length > MAX_DAYS
  const years = useMemo(() => [...new Set(curves.dates.map((date) => date.slice(0, 4)))], [curves.dates])
  const [selected, setSelected] = useState(MONTHS)
  const period = long ? selected : null
  const all = useMemo(() => curves.agents.map((agent) => daysOf(agent, curves.dates)), [curves])
  const rows = useMemo(
    () => (period === null ? all : period === MONTHS ? all.map(monthsOf) : all.map((days) => days.filter((day) => day.date.startsWith(period)))),
    [all, period],
  )
  const scale = useMemo(() => scaleOf(rows.flat()), [rows])
  const choices = [{ value: MONTHS, label: t('run.days.months') }, ...years.map((year) => ({ value: year, label: year }))]
  const zoom = useCallback((month: string) => setSelected(month.slice(0, 4)), [])
  return (
    <section className="panel" aria-label={t('run.days')}>
      <div className="panel-head">
        <h2>{t('run.days')}</h2>
        <span className="quiet grow">{period === MONTHS ? t('run.months.what') : t('run.days.what')}</span>
        {long && choices.length <= MAX_BUTTONS && <Segments label={t('run.days.span')} value={selected} onChange={setSelected} choices={choices} />}
        {long && choices.length > MAX_BUTTONS && (
          <select className="select short" aria-label={t('run.days.span')} value={selected} onChange={(event) => setSelected(event.target.value)}>
            {choices.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        )}
        <StripLegend hasSkipped={rows.some((days) => days.some(isSkipped))} />
        <ExportMenu
          what={t('run.days')}
          name={`days-${shortId(jobId)}`}
          csv={() => ({
            columns: ['agent', 'date', 'status', 'daily_return', 'is_full_research', 'done_in_job_id'],
            rows: curves.agents.flatMap((agent, index) => (all[index] ?? NO_DAYS).map((day) => [agent.model, day.date, day.status, day.result, day.full, day.doneIn])),
          })}
          image={() => box.current}
        />
      </div>
      <div className={`panel-body ${css.strips}`} ref={box}>
        {curves.agents.map((agent, index) => (
          <Strip key={agent.model} jobId={jobId} agent={agent} line={seriesStyle(index)} days={rows[index] ?? NO_DAYS} scale={scale} onMonth={period === MONTHS ? zoom : undefined} />
        ))}
      </div>
    </section>
  )
}

const NO_DAYS: Day[] = []

interface StripProps {
  jobId: string
  agent: AgentCurve
  line: ReturnType<typeof seriesStyle>
  days: Day[]
  scale: number
  onMonth: ((month: string) => void) | undefined
}

function Strip({ jobId, agent, line, days, scale, onMonth }: StripProps) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const navigate = useNavigate()
  const { model } = agent
  const cells = useMemo<Cell[]>(
    () =>
      days.map((day) => ({
        ...cellOf(day, scale),
        label: describe(day, t, word, format),
        ...(onMonth ? {} : { href: address('/app/runs/{job}/{date}/{model}', { job: day.doneIn ?? jobId, date: day.date, model }) }),
      })),
    [days, scale, onMonth, jobId, model, t, word, format],
  )
  const open = useCallback(
    (date: string) => void navigate({ to: '/app/runs/$jobId/$date/$model', params: { jobId: days.find((day) => day.date === date)?.doneIn ?? jobId, date, model } }),
    [navigate, days, jobId, model],
  )
  return (
    <div className="pair">
      <span className="row">
        <Swatch line={line} />
        <span className="clip" title={model}>
          {model}
        </span>
        <HouseTag isLlm={agent.is_llm} />
      </span>
      <DayStrip label={t(onMonth ? 'strip.months' : 'strip.label', { agent: model })} cells={cells} onPick={onMonth ?? open} />
    </div>
  )
}

/** A day or month as text. */
function describe(day: Day, t: Translate, word: ReturnType<typeof useWord>, format: Format): string {
  const dateText = day.date.length === 7 ? format.month(day.date) : format.day(day.date)
  const result = day.result !== null && day.status !== 'failed' ? format.change(day.result) : day.doneIn === undefined ? word('status', day.status) : ''
  return [dateText, result, day.full === false ? t('quality.degraded') : '', skippedText(day, t)].filter(Boolean).join(', ')
}

/** Which run completed the day, or how many days of the month. */
function skippedText(day: Day, t: Translate): string {
  if (!isSkipped(day)) return ''
  if (day.doneIn !== undefined) return t('strip.skipped.by', { run: shortId(day.doneIn) })
  if (day.doneBefore !== undefined) return t('strip.skipped.days', { count: day.doneBefore })
  return day.result === null ? '' : t('strip.skipped')
}

function StripLegend({ hasSkipped }: { hasSkipped: boolean }) {
  const t = useText()
  const cell = (look: string, text: string) => (
    <span className="row strip-key">
      <i className={`day ${look}`} style={{ '--v': '80%' }} />
      {text}
    </span>
  )
  return (
    <span className={`row wrap ${css.stripLegend} second`} aria-hidden="true">
      {cell('gain', t('strip.gain'))}
      {cell('loss', t('strip.loss'))}
      {cell('even degraded', t('quality.degraded'))}
      {cell('failed', t('status.failed'))}
      {cell('queued', t('status.queued'))}
      {hasSkipped && cell('gain skipped', t('strip.skipped'))}
    </span>
  )
}
