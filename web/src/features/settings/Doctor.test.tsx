import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { respondWith } from '@/test/network'
import { show } from '@/test/render'
import { Doctor } from './Doctor'

it('shows failures first, as text and not only by color', async () => {
  respondWith('/doctor', {
    ok: false,
    findings: [
      { state: 'ok', check: 'data', text: 'it can be written' },
      { state: 'note', check: 'provider', text: 'no key for openai' },
      { state: 'broken', check: 'dataset', text: 'there is no dataset `none`' },
    ],
    checked_at: '2026-11-22T09:00:00Z',
  })
  await show(<Doctor />)
  expect(await screen.findByText('1 failed')).toBeTruthy()
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual(['✗Failed:Datasetthere is no dataset `none`', '·Note:Providersno key for openai', '✓OK:Data directoryit can be written'])
  expect(screen.getByRole('button', { name: 'Check again' })).toBeTruthy()
})
