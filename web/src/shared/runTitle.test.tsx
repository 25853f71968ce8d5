import { renderHook } from '@testing-library/react'
import { expect, it } from 'vitest'
import { runJob } from '@/test/job'
import { useFormat } from './format'
import { useText } from './i18n'
import { datedRunTitle, runTitle } from './runTitle'

it('names a run, otherwise says what it trades, or which kind of job it is', () => {
  const { t, format } = renderHook(() => ({ t: useText(), format: useFormat() })).result.current
  const named = runJob('j', { labels: { name: 'Autumn', tags: [] } })
  expect([named, runJob('j'), runJob('j', { simulation: null, kind: 'other' })].map((job) => runTitle(job, t))).toEqual(['Autumn', 'AAPL, IBM', 'other'])
  const days = format.span('2012-10-01', '2012-10-05')
  expect([named, runJob('j', { simulation: null, kind: 'other' })].map((job) => datedRunTitle(job, format, t))).toEqual([`Autumn ${days}`, 'other'])
})
