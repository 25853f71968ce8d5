// The files of tables and charts. Loaded when the first one is requested.
import { downloadCsv, type TableData } from './csv'
import type { LegendLine } from './legend'
import { downloadElementPng, downloadPng, downloadTablePng, type TextTable } from './png'

/** What an image shows: a table or chart on the page, or a table of texts. */
export type ImageSource = HTMLElement | SVGSVGElement | TextTable

/** The rows of an image. A canvas cannot be much higher. */
export const MAX_IMAGE_ROWS = 200

export function saveCsv(name: string, { columns, rows }: TableData): void {
  downloadCsv(`${name}.csv`, columns, rows)
}

interface ImageTexts {
  title: string
  legend: readonly LegendLine[] | undefined
  /** The number of rows, if the source shows only the first ones. */
  total: number | undefined
  /** The last line of an image that lacks rows. */
  foot: (count: number, total: number) => string
}

export async function savePng(name: string, source: ImageSource, { title, legend, total, foot }: ImageTexts): Promise<void> {
  const file = `${name}.png`
  if (source instanceof HTMLCanvasElement || source instanceof SVGSVGElement) return downloadPng(file, source, title, legend)
  if (source instanceof HTMLElement && !(source instanceof HTMLTableElement)) return downloadElementPng(file, source, title)
  const table = source instanceof HTMLTableElement ? readTable(source) : source
  const rows = table.rows.slice(0, MAX_IMAGE_ROWS)
  const all = Math.max(total ?? 0, table.rows.length)
  const note = table.note ?? (rows.length < all ? foot(rows.length, all) : undefined)
  await downloadTablePng(file, { columns: table.columns, rows, note }, title)
}

/** The texts of the data of a file. */
export function textsOf({ columns, rows }: TableData): TextTable {
  return {
    columns: columns.map((text, at) => ({ text, number: rows.length > 0 && rows.every((row) => row[at] == null || typeof row[at] === 'number') })),
    rows: rows.map((row) => row.map((value) => (value == null ? '' : String(value).replace(/\s+/g, ' ')))),
  }
}

/** The texts of a table on the page, without controls, opened rows and columns that have only controls. */
export function readTable(table: HTMLTableElement): TextTable {
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])]
  const columns = heads.map((head) => ({ text: textOf(head), number: head.classList.contains('num') }))
  const isShown = heads.map((head) => head.dataset.export !== 'none')
  const keep = <T>(cells: readonly T[]) => cells.filter((_, at) => isShown[at] !== false)
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => row.dataset.detail === undefined)
  return {
    columns: keep(columns),
    rows: rows.map((row) => keep([...row.cells].flatMap((cell) => [textOf(cell), ...Array.from({ length: cell.colSpan - 1 }, () => '')]))),
  }
}

function textOf(node: Node): string {
  const parts = [...node.childNodes].map((child) => {
    if (child.nodeType === Node.TEXT_NODE) return child.textContent ?? ''
    if (!(child instanceof Element) || child.matches('[aria-hidden="true"], .hidden-label')) return ''
    return ` ${textOf(child)} `
  })
  return parts.join('').replace(/\s+/g, ' ').trim()
}
