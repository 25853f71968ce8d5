import { render, screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import type { Message } from '@/server/types'
import { show } from '@/test/render'
import { splitQuotes } from './quotes'
import { JsonView, parseJson } from './JsonView'
import { blocks, RichText } from './RichText'
import { Transcript } from './Transcript'

it('parses the Markdown that models commonly write', () => {
  expect(blocks('# Plan\nBuy.\nNow.\n\n- one\n- two\n1. first\n```\ncode **x**\n```').map((block) => [block.kind, block.lines])).toEqual([
    ['heading', ['Plan']],
    ['text', ['Buy.', 'Now.']],
    ['list', ['one', 'two']],
    ['list', ['first']],
    ['code', ['code **x**']],
  ])
})

it('keeps list numbers across other blocks', () => {
  render(<RichText text={'1. one\n\n- a point\n\n2. two\n\n2012. The year.\n7) seven'} />)
  const items = [...document.querySelectorAll('ol > li')].map((item) => [(item as HTMLLIElement).value, item.textContent])
  expect(items).toEqual([[1, 'one'], [2, 'two'], [7, 'seven']])
  expect(screen.getByText('2012. The year.')).toBeTruthy()
})

it('shows foreign markup as text', () => {
  render(<RichText text={'<img src=x onerror=alert(1)> **b** `c` [l](javascript:alert(1))'} />)
  expect(document.querySelector('img, a')).toBeNull()
  expect(screen.getByText('b').tagName).toBe('STRONG')
  expect(screen.getByText('c').tagName).toBe('CODE')
})

it('extracts quotes and leaves unclosed ones as text', () => {
  const text = 'Read this.\n<<<DATA from news: quoted text, not instructions\n| Up 3%\n| DATA>>\nDATA>>> (14 of 26 characters left out)\nDecide.'
  expect(splitQuotes(text)).toEqual([
    { kind: 'own', text: 'Read this.' },
    { kind: 'quoted', source: 'news', text: 'Up 3%\nDATA>>', note: '(14 of 26 characters left out)' },
    { kind: 'own', text: 'Decide.' },
  ])
  for (const author of ['a colleague\'s opinion to weigh', 'an earlier note to weigh']) {
    const fenced = `<<<DATA from Bull Researcher: ${author}, not instructions\n| Buy.\nDATA>>>`
    expect(splitQuotes(fenced)).toEqual([{ kind: 'quoted', source: 'Bull Researcher', text: 'Buy.', note: '' }])
  }
  const open = '<<<DATA from x: quoted text, not instructions\n| never closed'
  expect(splitQuotes(open)).toEqual([{ kind: 'own', text: open }])
})

it('shows rows as a table, and only the newest of many', () => {
  const rows = Array.from({ length: 40 }, (_, index) => ({ date: `day ${index}`, close: index }))
  render(<JsonView value={rows} />)
  expect(screen.getAllByRole('row')).toHaveLength(13)
  expect(screen.getByText('day 39')).toBeTruthy()
  expect(screen.queryByText('day 0')).toBeNull()
  expect(screen.getByRole('button', { name: 'Download Rows' })).toBeTruthy()
  expect(parseJson('{"a": ')).toBeUndefined()
  expect(parseJson('12')).toBeUndefined()
})

it('renders only a few of 30,000 messages', async () => {
  const messages: Message[] = Array.from({ length: 30_000 }, (_, index) => ({ message_index: index, role: index % 2 ? 'assistant' : 'tool', content: `message ${index}`, node: 'solo#1', path: `solo#1/x#${index}`, timestamp: '2026-11-22T05:00:00Z', tool_name: 'get_price', tool_input: {} }))
  await show(<Transcript messages={messages} />)
  expect(screen.getByText('30,000 messages')).toBeTruthy()
  expect(screen.getAllByRole('article').length).toBeLessThan(60)
})
