// Goal: the dots of the trials can be saved as rows.
import { fireEvent, render, screen, waitFor } from '@testing-library/react'
import { expect, it, vi } from 'vitest'
import type { WindowTrials } from '@/server/types'
import { I18nProvider } from '@/shared/i18n'
import { Dots } from './Dots'

const files = vi.hoisted(() => ({ saveCsv: vi.fn(), savePng: vi.fn(() => Promise.resolve()) }))
vi.mock('@/shared/exportFiles', () => files)

it('saves a row for each trial, and an image that names its lines', async () => {
  const trials = [1, 2].map((trial) => ({ trial, job_id: `job-${trial}`, total_return: 0.01 * trial, is_complete: true })) as WindowTrials['trials']
  render(
    <I18nProvider>
      <Dots title="m, window 1" name="trial-returns-m-1" trials={trials} mean={0.015} hold={0.02} range={{ low: 0, high: 0.02 }} />
    </I18nProvider>,
  )
  fireEvent.click(screen.getByRole('button', { name: 'CSV', hidden: true }))
  await waitFor(() => expect(files.saveCsv).toHaveBeenCalledWith('trial-returns-m-1', expect.objectContaining({ rows: [['job-1', 1, 0.01, true, 0.015, 0.02], ['job-2', 2, 0.02, true, 0.015, 0.02]] })))
  fireEvent.click(screen.getByRole('button', { name: 'PNG', hidden: true }))
  const texts = { title: 'Returns of the trials: m, window 1', legend: [expect.objectContaining({ label: 'Mean' }), expect.objectContaining({ label: 'Buy-and-hold', dash: 'dashed' })] }
  await waitFor(() => expect(files.savePng).toHaveBeenCalledWith('trial-returns-m-1', screen.getByRole('img'), expect.objectContaining(texts)))
})
