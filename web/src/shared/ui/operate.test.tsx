// Goal: what writes is shown to those who may write, and to nobody before it is known who they are.
import { screen, waitFor } from '@testing-library/react'
import { expect, it } from 'vitest'
import { heldRoute, respondWith } from '@/test/network'
import { show } from '@/test/render'
import { useIsReadOnly } from '../access'
import { Operate } from './operate'

function Page() {
  return (
    <>
      <p>{useIsReadOnly() ? 'read-only' : 'not read-only'}</p>
      <Operate>
        <button type="button">Start</button>
      </Operate>
    </>
  )
}

it.each([
  ['operate', { required: true, name: 'desk', scope: 'operate' }, 200, 1],
  ['read', { required: true, name: 'reader', scope: 'read' }, 200, 0],
  ['no access control', { error: 'not_found', message: '' }, 404, 1],
])('with %s', async (_, body, status, buttons) => {
  const access = heldRoute('/access')
  await show(<Page />)
  await waitFor(() => expect(access.waiting).toBe(1))
  expect(screen.queryByRole('button')).toBeNull()
  expect(screen.getByText('not read-only')).toBeTruthy()
  access.respond(body, status)
  if (buttons > 0) await screen.findByRole('button', { name: 'Start' })
  else await screen.findByText('read-only')
  expect(screen.queryAllByRole('button')).toHaveLength(buttons)
})

it('leaves the decision to a server that does not say', async () => {
  respondWith('/access', { error: 'internal_error', message: '' }, 400)
  await show(<Page />)
  await screen.findByRole('button', { name: 'Start' })
})
