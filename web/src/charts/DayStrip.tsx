// Days, or months, side by side: colour by result, a hatched foot where research was degraded. Made of plain
// links, one listener a strip: there may be thousands.
import { type CSSProperties, type KeyboardEvent, memo, type MouseEvent, useRef, useState } from 'react'

export interface Cell {
  /** The day, or the month. */
  key: string
  /** `gain`, `loss`, `even`, or how it stands. */
  tone: string
  /** How much of the full colour, 0 to 1. */
  share: number
  degraded: boolean
  /** All of it in words. */
  label: string
  /** Where it leads; absent: it is chosen. */
  href?: string
}

interface Props {
  label: string
  cells: Cell[]
  onPick: (key: string) => void
}

export const DayStrip = memo(function DayStrip({ label, cells, onPick }: Props) {
  const strip = useRef<HTMLDivElement>(null)
  const [at, setAt] = useState(0)
  const here = Math.min(at, cells.length - 1)

  const walk = (event: KeyboardEvent) => {
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: cells.length - 1 }[event.key]
    if (to === undefined || to < 0 || to >= cells.length) return
    event.preventDefault()
    setAt(to)
    const cell = strip.current?.children[to]
    if (cell instanceof HTMLElement) cell.focus()
  }
  const pick = (event: MouseEvent) => {
    const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-cell]') : null
    // What opens a new tab is the browser's.
    if (!cell?.dataset.cell || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    onPick(cell.dataset.cell)
  }
  return (
    // The cells are what is used; the strip only listens for them.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div className="strip" ref={strip} role="group" aria-label={label} onKeyDown={walk} onClick={pick}>
      {cells.map((cell, index) => {
        const usual = {
          className: `day ${cell.tone}${cell.degraded ? ' degraded' : ''}`,
          style: { '--v': `${Math.round(18 + cell.share * 82)}%` } as CSSProperties,
          'data-cell': cell.key,
          title: cell.label,
          'aria-label': cell.label,
          tabIndex: index === here ? 0 : -1,
          onFocus: () => setAt(index),
        }
        if (cell.href === undefined) return <button key={cell.key} type="button" {...usual} />
        // Its words are its label: the cell is as wide as a day.
        // eslint-disable-next-line jsx-a11y/anchor-has-content
        return <a key={cell.key} href={cell.href} {...usual} />
      })}
    </div>
  )
})

/** Marks the cells of one day, and no others. */
export function markCells(within: HTMLElement | null, date: string | null): void {
  for (const marked of within?.querySelectorAll('.day.marked') ?? []) marked.classList.remove('marked')
  if (date === null) return
  const cells = within?.querySelectorAll(`[data-cell="${date}"], [data-cell="${date.slice(0, 7)}"]`) ?? []
  for (const cell of cells) cell.classList.add('marked')
}
