import { screen, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, it } from 'vitest'
import type { Message } from '@/server/types'
import { show } from '@/test/render'
import { diffOf, linesOf } from './diff'
import { Transcript } from './Transcript'

it('shows changed lines with context, and gaps', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].join('\n')
  const after = ['a', 'b', 'c', 'd', 'E', 'f', 'g', 'h', 'i'].join('\n')
  expect(diffOf(before, after)).toEqual(['@@', ' c', ' d', '-e', '+E', ' f', ' g', ' h', '+i'])
  expect(diffOf('same', 'same')).toEqual([])
  expect(diffOf('', 'x')).toEqual(['-', '+x'])
})

it('splits long paragraphs into sentences', () => {
  const sentence = 'The price is above its average, and volume confirms the move upward.'
  const text = [sentence, sentence, 'So buy.'].join(' ')
  expect(linesOf(text)).toEqual([sentence, sentence, 'So buy.'])
  expect(diffOf(text, text.replace('So buy.', 'So sell.'))).toEqual([` ${sentence}`, ` ${sentence}`, '-So buy.', '+So sell.'])
})

it('compares huge texts without a table of all pairs', () => {
  const lines = (mark: string) => Array.from({ length: 3000 }, (_, index) => `${mark} ${index}`).join('\n')
  expect(diffOf(lines('a'), lines('b'))).toHaveLength(6000)
})

it('compares two selected messages, the earlier one first', async () => {
  const messages: Message[] = ['Hold.\nWait.', 'Buy.\nWait.'].map((content, index) => ({ message_index: index, role: 'assistant', content, node: 'solo#1', path: `solo#1/model#${index + 1}`, timestamp: '2026-11-22T05:00:00Z' }))
  await show(<Transcript messages={messages} />)
  const [first, second] = screen.getAllByRole('button', { name: 'Diff' })
  await userEvent.click(second as HTMLElement)
  expect(screen.getByText('Select another message to compare.')).toBeTruthy()
  await userEvent.click(first as HTMLElement)
  const panel = screen.getByRole('region', { name: 'Difference' })
  expect(panel.querySelector('pre')?.textContent).toBe('-Hold.\n+Buy.\n Wait.\n')
  expect(within(panel).getByText('- solo#1/model#1')).toBeTruthy()
  await userEvent.click(within(panel).getByRole('button', { name: 'Close' }))
  expect(screen.queryByRole('region', { name: 'Difference' })).toBeNull()
})
