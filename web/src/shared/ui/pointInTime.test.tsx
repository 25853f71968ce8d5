import { screen } from '@testing-library/react'
import { expect, it } from 'vitest'
import { show } from '@/test/render'
import { UnverifiedReason, UnverifiedTag } from './pointInTime'

const reason = { kind: 'memory', job: 'a-job', session: 7, date: '2012-10-02' } as const

it('marks what is unverified, says why, and leads to where the mark comes from', async () => {
  await show(
    <>
      <UnverifiedTag provenance={{ point_in_time: 'unverified', point_in_time_reason: reason }} />
      <UnverifiedReason reason={reason} />
    </>,
  )
  expect((await screen.findByText('point in time unverified')).title).toBe('it read a memory of an unverified session')
  const origin = screen.getByText(/session of .*2012/)
  expect(origin.getAttribute('href')).toBe('/app/runs/a-job')
})

it('says nothing of what is verified', async () => {
  await show(
    <>
      <p>beside it</p>
      <UnverifiedTag provenance={{ point_in_time: 'verified' }} />
    </>,
  )
  expect(await screen.findByText('beside it')).toBeTruthy()
  expect(screen.queryByText('point in time unverified')).toBeNull()
})
