import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { show } from '@/test/render'
import { UnverifiedReason, UnverifiedTag } from './pointInTime'

const reason = { kind: 'memory', job: 'a-job', session: 7, date: '2012-10-02' } as const

it('marks an unverified day with the reason and a link to its cause', async () => {
  await show(
    <>
      <UnverifiedTag provenance={{ point_in_time: 'unverified', point_in_time_reason: reason }} />
      <UnverifiedReason reason={reason} />
    </>,
  )
  expect((await screen.findByText('Point-in-time unverified')).title).toBe('It recalled a memory of an unverified session')
  const origin = screen.getByText(/Session of .*2012/)
  expect(origin.getAttribute('href')).toBe('/app/runs/a-job')
})

it('renders nothing for a verified day', async () => {
  await show(
    <>
      <p>next to it</p>
      <UnverifiedTag provenance={{ point_in_time: 'verified' }} />
    </>,
  )
  expect(await screen.findByText('next to it')).toBeTruthy()
  expect(screen.queryByText('Point-in-time unverified')).toBeNull()
})
