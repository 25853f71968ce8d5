import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { answers } from '@/test/network'
import { show } from '@/test/render'
import { Doctor } from './Doctor'

it('shows what is broken first, in words and not by colour alone', async () => {
  answers('/doctor', {
    ok: false,
    findings: [
      { state: 'ok', what: 'data', text: 'it can be written' },
      { state: 'note', what: 'provider', text: 'no key for openai' },
      { state: 'broken', what: 'dataset', text: 'there is no dataset `none`' },
    ],
    looked_at: '2026-11-22T09:00:00Z',
  })
  await show(<Doctor />)
  expect(await screen.findByText('1 broken')).toBeTruthy()
  expect(screen.getAllByRole('listitem').map((item) => item.textContent)).toEqual(['✗broken:Datasetthere is no dataset `none`', '·to know:Providersno key for openai', '✓well:Data directoryit can be written'])
  expect(screen.getByRole('button', { name: 'Look again' })).toBeTruthy()
})
