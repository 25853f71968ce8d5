// Tables as CSV files (RFC 4180), with a byte order mark so that spreadsheets read them as UTF-8.
import { download } from './download'

export type CsvValue = string | number | boolean | null | undefined

/** The content of a file. Names of columns are fixed: they do not depend on the language. */
export interface TableData {
  columns: readonly string[]
  rows: readonly (readonly CsvValue[])[]
  /** What the reader must know about the file, for example what it lacks. */
  note?: string | undefined
}

/** A text that a spreadsheet would run as a formula begins with an apostrophe. Numbers stay numbers. */
function field(value: CsvValue): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : ''
  if (typeof value === 'boolean') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe
}

export function toCsv(columns: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [columns, ...rows].map((row) => `${row.map(field).join(',')}\r\n`).join('')
}

export function downloadCsv(name: string, columns: readonly string[], rows: readonly (readonly CsvValue[])[]): void {
  download(name, `\ufeff${toCsv(columns, rows)}`, 'text/csv')
}
