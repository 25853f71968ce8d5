// Readable JSON: rows of similar objects as a table, a flat object as pairs, anything else as text.
import { useState } from 'react'
import type { CsvValue } from '@/shared/csv'
import { useText } from '@/shared/i18n'
import { TableFrame } from '@/shared/ui/table'

const PREVIEW_ROWS = 12

/** The JSON in a text; `undefined` if it is not an object or a list. */
export function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fields = Record<string, unknown>

const isPlain = (value: unknown): boolean => value === undefined || value === null || typeof value !== 'object'
const isRecord = (value: unknown): value is Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

function isRows(value: unknown): value is Fields[] {
  return Array.isArray(value) && value.length > 1 && value.every((row) => isRecord(row) && Object.values(row).every(isPlain))
}

export function JsonView({ value }: { value: unknown }) {
  if (isRows(value)) return <Rows rows={value} />
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="quiet mono">[]</span>
    if (value.every(isPlain)) return <span className="mono">{value.map(render).join(', ')}</span>
    return (
      <div className="json-list">
        {value.map((item, index) => (
          <JsonView key={index} value={item} />
        ))}
      </div>
    )
  }
  if (isRecord(value)) {
    const entries = Object.entries(value)
    if (entries.length === 0) return <span className="quiet mono">{'{}'}</span>
    return (
      <dl className="pairs mono">
        {entries.map(([key, inner]) => (
          <div key={key} className="pair">
            <dt>{key}</dt>
            <dd>{isPlain(inner) ? render(inner) : <JsonView value={inner} />}</dd>
          </div>
        ))}
      </dl>
    )
  }
  return <span className="mono">{render(value)}</span>
}

function render(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** A value of a file. The fields of rows are plain. */
function valueOf(value: unknown): CsvValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null
}

function Rows({ rows }: { rows: Fields[] }) {
  const t = useText()
  const [expanded, setExpanded] = useState(false)
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  // The newest rows are the last ones.
  const visible = expanded ? rows : rows.slice(-PREVIEW_ROWS)
  return (
    <div>
      <TableFrame label={t('json.rows')} name="rows" csv={() => ({ columns, rows: rows.map((row) => columns.map((column) => valueOf(row[column]))) })}>
        <table className="grid-table mono json-rows">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} className={typeof rows[0]?.[column] === 'number' ? 'num' : ''}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {visible.map((row, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column} className={typeof row[column] === 'number' ? 'num' : ''}>
                    {render(row[column])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
      {rows.length > visible.length && (
        <button type="button" className="button small plain" onClick={() => setExpanded(true)}>
          {t('json.all', { count: rows.length })}
        </button>
      )}
    </div>
  )
}
