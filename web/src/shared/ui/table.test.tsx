// Goal: tables sort by value with missing values last, never sort a part of a list, and download every row.
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react'
import { useState } from 'react'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { I18nProvider } from '@/shared/i18n'
import { readTable } from '../exportFiles'
import { type Column, fileOf, sortRows, SortTable } from './table'

interface Row {
  name: string
  value: number | null
}

const ROWS: Row[] = [
  { name: 'b', value: 9 },
  { name: 'a', value: null },
  { name: 'c', value: 10.123456789 },
  { name: 'd', value: 9 },
  { name: 'e', value: Number.NaN },
  { name: 'f', value: -2 },
]
const COLUMNS: Column<Row>[] = [
  { id: 'value', label: 'Value', num: true, sort: (row) => row.value, cell: (row) => row.value?.toFixed(1) },
  { id: 'quality', label: 'Quality', stays: 'end', csv: { full_days: (row) => row.value }, cell: () => 'ok' },
  { id: 'name', label: 'Name', stays: true, sort: (row) => row.name, cell: (row) => <b>{row.name}</b> },
  { id: 'open', label: 'Open', isControl: true, csv: null, cell: () => <button type="button">Open</button> },
]

/** The files that were downloaded. */
let files: { name: string; text: Promise<string> }[]

beforeEach(() => {
  files = []
  let content: Blob | null = null
  URL.createObjectURL = (blob) => {
    content = blob as Blob
    return 'blob:file'
  }
  URL.revokeObjectURL = () => undefined
  vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
    files.push({ name: this.download, text: (content as Blob).text() })
  })
})
afterEach(() => vi.restoreAllMocks())

const names = () => screen.getAllByRole('row').slice(1).map((row) => within(row).getAllByRole('cell')[1]?.textContent)
const sorted = (id: string, descending: boolean) => sortRows(ROWS, COLUMNS, { id, descending }).map((row) => row.name)

it('sorts numbers by value, keeps equal rows in order, and puts missing values last', () => {
  expect(sorted('value', false)).toEqual(['f', 'b', 'd', 'c', 'a', 'e'])
  expect(sorted('value', true)).toEqual(['c', 'b', 'd', 'f', 'a', 'e'])
  expect(sorted('name', true)).toEqual(['f', 'e', 'd', 'c', 'b', 'a'])
  expect(sortRows(ROWS, COLUMNS, { id: 'open', descending: true })).toBe(ROWS)
})

it('sorts by its heads, which say so, and keeps the quality in the last column', () => {
  render(
    <I18nProvider>
      <SortTable label="Rows" columns={COLUMNS} rows={ROWS} rowKey={(row) => row.name} />
    </I18nProvider>,
  )
  const heads = screen.getAllByRole('columnheader')
  expect(heads.map((head) => head.textContent)).toEqual(['Value', 'Name', 'Open', 'Quality'])
  expect(heads[3]?.className).toContain('stays-end')
  expect(heads.map((head) => head.getAttribute('aria-sort'))).toEqual(['none', 'none', null, null])
  fireEvent.click(screen.getByRole('button', { name: 'Value' }))
  return waitFor(() => expect(names()).toEqual(['c', 'b', 'd', 'f', 'a', 'e'])).then(async () => {
    expect(heads[0]?.getAttribute('aria-sort')).toBe('descending')
    fireEvent.click(screen.getByRole('button', { name: 'Value' }))
    await waitFor(() => expect(heads[0]?.getAttribute('aria-sort')).toBe('ascending'))
    expect(names()).toEqual(['f', 'b', 'd', 'c', 'a', 'e'])
  })
})

it('loads the rest of a list before it sorts it', async () => {
  function List() {
    const [rows, setRows] = useState(ROWS.slice(0, 2))
    const rest = {
      hasMore: rows.length < ROWS.length,
      isLoading: false,
      loadMore: () => undefined,
      loadAll: async () => {
        setRows(ROWS)
        return ROWS
      },
    }
    return <SortTable label="Rows" columns={COLUMNS} rows={rows} rowKey={(row) => row.name} rest={rest} />
  }
  render(
    <I18nProvider>
      <List />
    </I18nProvider>,
  )
  expect(names()).toEqual(['b', 'a'])
  fireEvent.click(screen.getByRole('button', { name: 'Value' }))
  await waitFor(() => expect(names()).toEqual(['c', 'b', 'd', 'f', 'a', 'e']))
})

it('does not sort a list whose rest cannot be loaded, and says so', async () => {
  const rest = { hasMore: true, isLoading: false, loadMore: () => undefined, loadAll: () => Promise.reject(new Error('cannot reach the server')) }
  render(
    <I18nProvider>
      <SortTable label="Rows" columns={COLUMNS} rows={ROWS.slice(0, 3)} rowKey={(row) => row.name} rest={rest} />
    </I18nProvider>,
  )
  fireEvent.click(screen.getByRole('button', { name: 'Value' }))
  expect((await screen.findByRole('alert')).textContent).toContain('cannot reach the server')
  expect(names()).toEqual(['b', 'a', 'c'])
})

it('shows a part of many rows, and downloads all of them with full precision', async () => {
  const many = Array.from({ length: 400 }, (_, index) => ({ name: `n${index}`, value: index / 3 }))
  render(
    <I18nProvider>
      <SortTable label="Rows" name="many" columns={COLUMNS} rows={many} rowKey={(row) => row.name} />
    </I18nProvider>,
  )
  expect(names()).toHaveLength(150)
  fireEvent.click(screen.getByRole('button', { name: 'CSV', hidden: true }))
  await waitFor(() => expect(files).toHaveLength(1))
  const lines = (await files[0]?.text)?.replace('\ufeff', '').trim().split('\r\n') ?? []
  expect(files[0]?.name).toBe('many.csv')
  expect(lines[0]).toBe('value,name,full_days')
  expect(lines).toHaveLength(401)
  expect(lines[2]).toBe(`${1 / 3},n1,${1 / 3}`)
  fireEvent.click(screen.getByRole('button', { name: 'Show more' }))
  await waitFor(() => expect(names()).toHaveLength(400))
})

it('has fixed names for its columns, and none for controls', () => {
  expect(fileOf(COLUMNS, ROWS.slice(0, 2))).toEqual({ columns: ['value', 'full_days', 'name'], rows: [[9, 9, 'b'], [null, null, 'a']] })
})

it('draws what the table shows, without controls and opened rows', () => {
  render(
    <I18nProvider>
      <SortTable label="Rows" columns={COLUMNS} rows={ROWS.slice(0, 1)} rowKey={(row) => row.name} detail={() => 'opened'} />
    </I18nProvider>,
  )
  expect(screen.getByText('opened')).toBeTruthy()
  expect(readTable(screen.getByRole('table') as HTMLTableElement)).toEqual({
    columns: [{ text: 'Value', number: true }, { text: 'Name', number: false }, { text: 'Quality', number: false }],
    rows: [['9.0', 'b', 'ok']],
  })
})
