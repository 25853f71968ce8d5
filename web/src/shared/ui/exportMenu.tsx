// The control of every table and chart that downloads it: CSV or PNG.
import { useCallback, useEffect, useId, useRef, useState } from 'react'
import type { TableData } from '../csv'
import type * as Files from '../exportFiles'
import { useText } from '../i18n'
import type { LegendLine } from '../legend'
import { Icon } from './icons'

export interface ExportProps {
  /** What is downloaded, in the current language. */
  what: string
  /** The file's name without its extension. It does not depend on the language. */
  name: string
  /** All rows, with full precision. */
  csv: () => TableData | Promise<TableData>
  /** What the image shows; without it, the table of the CSV file. */
  image?: () => Files.ImageSource | null | Promise<Files.ImageSource | null>
  /** The number of rows, if the image has only the first ones. */
  total?: number | undefined
  /** The lines of a chart, which the image names below its title. */
  legend?: readonly LegendLine[]
}

/** The distance of the menu from its button and from the edge of the window, in pixels. */
const GAP = 4
/** With less room below its button, the menu is above it. */
const MAX_HEIGHT = 120

export function ExportMenu({ what, name, csv, image, total, legend }: ExportProps) {
  const t = useText()
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const menu = useRef<HTMLDivElement>(null)
  const [busy, setBusy] = useState(false)
  const [note, setNote] = useState<string | null>(null)
  const close = () => menu.current?.hidePopover?.()
  const place = useCallback(() => {
    const at = button.current?.getBoundingClientRect()
    const box = menu.current
    if (!at || !box) return
    const fitsBelow = at.bottom + GAP + MAX_HEIGHT <= window.innerHeight
    box.style.top = fitsBelow ? `${at.bottom + GAP}px` : 'auto'
    box.style.bottom = fitsBelow ? 'auto' : `${window.innerHeight - at.top + GAP}px`
    box.style.right = `${Math.max(GAP, document.documentElement.clientWidth - at.right)}px`
  }, [])
  const toggled = (isOpen: boolean) => {
    if (isOpen) {
      setNote(null)
      place()
    }
    // The menu moves with its button.
    window[isOpen ? 'addEventListener' : 'removeEventListener']('scroll', place, { capture: true, passive: true })
  }
  useEffect(() => () => window.removeEventListener('scroll', place, { capture: true }), [place])
  const run = async (work: (files: typeof Files) => Promise<string | undefined>) => {
    setBusy(true)
    setNote(null)
    try {
      const said = await work(await import('../exportFiles'))
      if (said) setNote(said)
      else close()
    } catch (error) {
      setNote(error instanceof Error ? error.message : String(error))
    }
    setBusy(false)
  }
  const saveCsv = () =>
    run(async (files) => {
      const data = await csv()
      files.saveCsv(name, data)
      return data.note
    })
  const savePng = () =>
    run(async (files) => {
      const data = image ? undefined : await csv()
      const source = data ? files.textsOf(data) : await image?.()
      if (!source) return t('export.nothing')
      await files.savePng(name, source, { title: what, legend, total, foot: (count, all) => t('export.short', { count, total: all }) })
      return data?.note
    })
  const label = t('export.menu', { what })
  return (
    <div className="export">
      <button ref={button} type="button" className="button small plain" popoverTarget={id} aria-label={label} title={label}>
        <Icon name="export" />
      </button>
      <div ref={menu} id={id} popover="auto" className="export-menu" role="group" aria-label={label} onBeforeToggle={(event) => toggled(event.newState === 'open')}>
        <button type="button" className="button small plain" disabled={busy} onClick={() => void saveCsv()}>
          CSV
        </button>
        <button type="button" className="button small plain" disabled={busy} onClick={() => void savePng()}>
          PNG
        </button>
        <span className="second" aria-live="polite">
          {busy ? t('export.busy') : note}
        </span>
      </div>
    </div>
  )
}
