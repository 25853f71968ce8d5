// Goal: the desk's graph can be saved, as an image and as rows.
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import { I18nProvider } from '@/shared/i18n'
import { recordImages } from '@/test/images'
import { TABLE } from '@/test/nodes'
import type { Step } from '@/server/types'
import { DeskPanel } from './DeskPanel'
import { nodesOf } from './desk'
import type { Reading } from './useReading'

const saveCsv = vi.hoisted(() => vi.fn())
vi.mock('@/shared/exportFiles', async (original) => ({ ...(await original<object>()), saveCsv }))

it('saves the nodes of the graph', async () => {
  const images = recordImages()
  const step = { path: 'IBM/Trader#1/model#1', kind: 'model', class: 'external', state: 'done', started_at: '2012-10-01T13:30:00Z', ended_at: '2012-10-01T13:30:02Z', input_tokens: 10, output_tokens: 5, attempts: 1, detached: false } as unknown as Step
  const nodes = nodesOf(TABLE, [step], [], [], false)
  const reading = { desk: { isDesk: true, ofSymbol: nodes, symbol: 'IBM', selected: null }, table: TABLE, view: 'conversation', select: vi.fn() } as unknown as Reading
  render(
    <I18nProvider>
      <DeskPanel reading={reading} />
    </I18nProvider>,
  )
  fireEvent.click(screen.getByRole('button', { name: 'CSV', hidden: true }))
  await waitFor(() => expect(saveCsv).toHaveBeenCalled())
  const [name, data] = saveCsv.mock.calls[0] ?? []
  expect(name).toBe('desk-ibm')
  expect(data.columns.slice(1, 5)).toEqual(['symbol', 'node', 'round', 'state'])
  expect(data.rows.map((row: unknown[]) => row.slice(1, 5))).toEqual([['IBM', 'Trader', 1, 'ok']])
  fireEvent.click(screen.getByRole('button', { name: 'PNG', hidden: true }))
  await waitFor(() => expect(images[0]?.texts[0]?.text).toBe('Desk'))
})
