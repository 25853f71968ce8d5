// A strip of days or months: color by result, hatching for degraded research. Plain links with one listener per strip,
// because there may be thousands.
import { type KeyboardEvent, memo, type MouseEvent, useRef, useState } from 'react'

export interface Cell {
  /** The day, or the month. */
  key: string
  /** `gain`, `loss`, `even`, or a status. */
  tone: string
  /** Color strength, 0 to 1. */
  share: number
  degraded: boolean
  /** Completed before, by another run: a dashed outline. */
  skipped?: boolean
  /** The text for screen readers and the tooltip. */
  label: string
  /** The link target; without one, the cell is a button. */
  href?: string
}

interface Props {
  label: string
  cells: Cell[]
  onPick: (key: string) => void
}

export const DayStrip = memo(function DayStrip({ label, cells, onPick }: Props) {
  const strip = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState(0)
  const current = Math.min(focused, cells.length - 1)

  const onArrow = (event: KeyboardEvent) => {
    const to = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: cells.length - 1 }[event.key]
    if (to === undefined || to < 0 || to >= cells.length) return
    event.preventDefault()
    setFocused(to)
    const cell = strip.current?.children[to]
    if (cell instanceof HTMLElement) cell.focus()
  }
  const onClick = (event: MouseEvent) => {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-cell]') : null
    // The browser handles clicks that open a new tab.
    if (!cell?.dataset.cell || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    onPick(cell.dataset.cell)
  }
  return (
    // The cells are the controls; the strip only listens for them.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div className="strip" ref={strip} role="group" aria-label={label} onKeyDown={onArrow} onClick={onClick}>
      {cells.map((cell, index) => {
        const common = {
          className: `day ${cell.tone}${cell.degraded ? ' degraded' : ''}${cell.skipped ? ' skipped' : ''}`,
          style: { '--v': `${Math.round(18 + cell.share * 82)}%` },
          'data-cell': cell.key,
          title: cell.label,
          'aria-label': cell.label,
          tabIndex: index === current ? 0 : -1,
          onFocus: () => setFocused(index),
        }
        if (cell.href === undefined) return <button key={cell.key} type="button" {...common} />
        // The cell is too narrow for text: its label is an attribute.
        // eslint-disable-next-line jsx-a11y/anchor-has-content
        return <a key={cell.key} href={cell.href} {...common} />
      })}
    </div>
  )
})

/** Marks the cells of one day and unmarks all others. */
export function markCells(within: HTMLElement | null, date: string | null): void {
  for (const marked of within?.querySelectorAll('.day.marked') ?? []) marked.classList.remove('marked')
  if (date === null) return
  const cells = within?.querySelectorAll(`[data-cell="${date}"], [data-cell="${date.slice(0, 7)}"]`) ?? []
  for (const cell of cells) cell.classList.add('marked')
}
