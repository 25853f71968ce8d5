// The days of one agent as a strip: colour by the day's result, a hatched foot where research was degraded.
import { Link } from '@tanstack/react-router'
import { type CSSProperties, type KeyboardEvent, useRef, useState } from 'react'
import { useFormat } from '@/shared/format'
import { useText, useWord } from '@/shared/i18n'

export interface Day {
  date: string
  status: string
  /** The day's return as a fraction; `null`: not known. */
  result: number | null
  full: boolean | null
}

interface Props {
  jobId: string
  model: string
  days: Day[]
  /** The result at which the colour is full. */
  scale: number
  marked?: string | null
}

export function DayStrip({ jobId, model, days, scale, marked }: Props) {
  const t = useText()
  const word = useWord()
  const format = useFormat()
  const strip = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(0)

  const walk = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: days.length - 1 }[event.key]
    if (to === undefined || to < 0 || to >= days.length) return
    event.preventDefault()
    setAt(to)
    strip.current?.querySelectorAll<HTMLElement>('.day')[to]?.focus()
  }
  const told = (day: Day) =>
    [
      day.date,
      day.status === 'completed' ? format.change(day.result) : word('status', day.status),
      day.full === false ? t('quality.degraded') : '',
    ]
      .filter(Boolean)
      .join(', ')

  return (
    // The arrow keys walk; each day is a link of its own.
    <div className="strip" ref={strip} role="group" aria-label={t('strip.label', { agent: model })}>
      {days.map((day, index) => {
        const value = day.result === null || day.status !== 'completed' ? 0 : Math.min(1, Math.abs(day.result) / scale)
        const tone = day.status !== 'completed' ? day.status : value === 0 ? 'even' : (day.result ?? 0) > 0 ? 'gain' : 'loss'
        const style = { '--v': `${Math.round(18 + value * 82)}%` } as CSSProperties
        const look = `day ${tone}${day.full === false ? ' degraded' : ''}${day.date === marked ? ' marked' : ''}`
        return (
          <Link
            key={day.date}
            to="/app/runs/$jobId/$date/$model"
            params={{ jobId, date: day.date, model }}
            className={look}
            style={style}
            title={told(day)}
            aria-label={told(day)}
            tabIndex={index === at ? 0 : -1}
            onFocus={() => setAt(index)}
            onKeyDown={walk}
            preload={false}
          />
        )
      })}
    </div>
  )
}
