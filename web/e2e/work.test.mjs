// The assistant, plans, branches, profiles and logs in a real browser, served by the real program.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DESK, SCRIPTED_DESK, startWorld } from './world.mjs'

let world
before(async () => {
  world = await startWorld()
})
after(() => world.close())

/** Sends a message to the assistant and waits for the answer. */
async function sendMessage(page, message) {
  await page.getByRole('textbox', { name: 'Ask the assistant' }).fill(message)
  await page.keyboard.press('Enter')
  await waitForAnswer(page, message)
}

async function waitForAnswer(page, message) {
  await page.getByRole('article', { name: 'You' }).getByText(message).last().waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  const last = page.getByRole('article').last()
  await last.getByText('Action log').waitFor()
  await last.locator('details:not([open]) > summary', { hasText: 'Action log' }).waitFor()
  return last
}

test('the assistant’s actions are shown live', async () => {
  const page = await world.page()
  await page.goto('/app/chat')
  await page.getByText('What should the desk do?').waitFor()
  world.models.hold()
  const message = 'Backtest lab::scripted on IBM from 2012-11-01 to 2012-11-02'
  await page.getByRole('textbox', { name: 'Ask the assistant' }).fill(message)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL(/session=/)
  const log = page.getByRole('article', { name: 'Assistant' }).getByRole('region', { name: 'Log' })
  const row = log.locator('[data-status="running"]', { hasText: 'tool_operation/run_simulation' })
  await row.waitFor()
  await log.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Working…' }).waitFor()
  world.models.release()
  const answer = await waitForAnswer(page, message)
  await answer.getByText('2 actions', { exact: true }).click()
  await answer.locator('details > ol > li', { hasText: 'tool_operation/run_simulation → succeeded' }).waitFor()
  await page.goto('/app/runs')
  await page.getByRole('table').getByText('lab::scripted').first().waitFor()
})

test('a turn is answered after a broken connection', async () => {
  const page = await world.page()
  await page.goto('/app/chat')
  world.models.hold()
  const message = 'Backtest lab::scripted on IBM from 2012-11-05 to 2012-11-06'
  await page.getByRole('textbox', { name: 'Ask the assistant' }).fill(message)
  await page.keyboard.press('Enter')
  const log = page.getByRole('article', { name: 'Assistant' }).getByRole('region', { name: 'Log' })
  await log.getByText('Live', { exact: true }).waitFor()
  world.connection.cut()
  await log.getByText(/Live updates disconnected/).waitFor()
  world.models.release()
  world.connection.restore()
  await waitForAnswer(page, message)
})

test('a plan is created in a chat, executed, and deleted after confirmation', async () => {
  const page = await world.page()
  await page.goto('/app/chat')
  const message = 'Create a plan Autumn: backtest the momentum on IBM in October 2012 and compare it with buy and hold; then decompose it'
  await sendMessage(page, message)
  await page.getByRole('region', { name: 'Chat' }).locator('header').getByRole('link', { name: /^Plan \d+$/ }).click()
  await page.waitForURL(/\/app\/plans\?plan=\d+/)
  const plan = page.getByRole('region', { name: 'Autumn' })
  await plan.getByRole('heading', { name: 'Autumn' }).waitFor()
  await plan.locator('li:has([data-task])').first().waitFor()
  assert.ok((await plan.locator('[data-task]').count()) >= 2)
  await plan.getByRole('button', { name: 'Execute', exact: true }).click()
  const log = page.getByRole('region', { name: 'Log' })
  await log.getByRole('heading', { name: 'Plan execution' }).waitFor()
  await log.getByText('Ended, read-only').waitFor()
  await plan.locator('.panel-head .status.completed').waitFor()
  await plan.locator('[data-task]').first().click()
  await plan.getByRole('heading', { name: 'Result' }).first().waitFor()
  await page.getByRole('button', { name: /Plan execution/ }).waitFor()

  await plan.getByRole('link', { name: 'Conversation' }).click()
  await page.getByRole('textbox', { name: 'Ask the assistant' }).waitFor()
  const number = new URL(page.url()).searchParams.get('session') && (await world.json('GET', '/plans')).plans[0].id
  await sendMessage(page, `delete plan ${number}`)
  assert.equal((await world.json('GET', '/plans')).plans.length, 1, 'nothing is deleted without confirmation')
  await page.getByRole('group', { name: 'Awaiting confirmation' }).getByRole('button', { name: 'Confirm', exact: true }).click()
  await waitForAnswer(page, 'Yes.')
  await page.getByRole('group', { name: 'Awaiting confirmation' }).waitFor({ state: 'detached' })
  await page.goto('/app/plans')
  await page.getByText('No plans yet').waitFor()
})

test('a plan is created by hand: tasks are added, edited, moved, run and deleted', async () => {
  const page = await world.page()
  await page.goto('/app/plans')
  await page.getByRole('button', { name: 'New plan' }).first().click()
  await page.getByRole('textbox', { name: 'Plan name' }).fill('By hand')
  await page.getByRole('button', { name: 'Create plan' }).click()
  await page.waitForURL(/plan=\d+/)
  const plan = page.getByRole('region', { name: 'By hand' })
  const names = () => plan.locator('[data-task] b').allInnerTexts()
  const add = async (name, instruction) => {
    await plan.getByRole('button', { name: 'Add task', exact: true }).click()
    const form = plan.getByRole('form', { name: 'Add task' })
    await form.getByLabel('Name').fill(name)
    await form.getByLabel('Instruction').fill(instruction)
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    await plan.locator('[data-task]', { hasText: name }).waitFor()
  }
  await add('first', 'help')
  await add('second', 'list plans')
  assert.deepEqual(await names(), ['first', 'second'])
  await plan.getByRole('button', { name: 'Move “second” up' }).click()
  await plan.locator('li:has([data-task])').first().locator('b', { hasText: 'second' }).waitFor()
  await plan.getByRole('button', { name: 'Edit “first”' }).click()
  const form = plan.getByRole('form', { name: 'Edit “first”' })
  await form.getByLabel('Name').fill('renamed')
  await form.getByLabel('Parent task').selectOption({ label: 'second' })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  await plan.locator('[data-task]', { hasText: 'renamed' }).waitFor()
  const { tasks } = await world.json('GET', `/plans/${new URL(page.url()).searchParams.get('plan')}/tasks`)
  assert.deepEqual(tasks.map((task) => [task.name, task.depth]), [['second', 0], ['renamed', 1]])
  await plan.getByRole('button', { name: 'Run “renamed”', exact: true }).click()
  await page.getByRole('region', { name: 'Log' }).getByText('Ended, read-only').waitFor()
  await plan.getByRole('button', { name: 'Rerun “renamed”' }).waitFor()
  await plan.getByRole('button', { name: 'Delete “second”' }).click()
  await page.getByRole('dialog', { name: 'Delete the task “second”?' }).getByRole('button', { name: 'Delete' }).click()
  await plan.getByText('No tasks yet').waitFor()
  await plan.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await plan.waitFor({ state: 'detached' })
})

test('a run is branched on a day with another model', async () => {
  const id = await world.run({ start_date: '2012-10-01', end_date: '2012-10-05', symbols: ['IBM'], models: ['house::momentum'], initial_cash: 10000 })
  const page = await world.page()
  await page.goto(`/app/runs/${id}`)
  await page.getByRole('button', { name: 'Branch' }).click()
  const form = page.getByRole('dialog', { name: 'New branch' })
  await form.getByLabel('Day').fill('2012-11-03')
  await form.getByRole('button', { name: 'Start branch' }).click()
  await form.getByRole('alert').getByText(/2012-11-03/).waitFor()
  await form.getByLabel('Day').fill('2012-10-03')
  await form.getByLabel('Model', { exact: true }).fill('house::contrarian')
  await form.getByText(/papertape branch .* --date 2012-10-03 .*--model house::contrarian/).waitFor()
  await form.getByRole('button', { name: 'Start branch' }).click()
  await page.waitForURL((url) => !url.pathname.endsWith(id))
  await page.getByText(/Branched on Oct 3, 2012/).waitFor()
  await page.getByText('5 of 5 model-days').waitFor()
  await page.getByRole('link', { name: /Branched on/ }).click()
  await page.waitForURL((url) => url.pathname.endsWith(id))
})

test('the timing of two desks is compared', async () => {
  const a = await world.run(DESK)
  world.models.rejectedRoles.add('Bull Researcher')
  const b = await world.run({ ...SCRIPTED_DESK, start_date: DESK.start_date, end_date: DESK.end_date })
  world.models.rejectedRoles.clear()
  const page = await world.page()
  await page.goto('/app/profiles')
  await page.getByText('Select two desk runs').waitFor()
  await page.getByLabel(/^Run A/).selectOption(a)
  await page.getByLabel(/^Run B/).selectOption(b)
  await page.waitForURL((url) => url.searchParams.get('a') === a && url.searchParams.get('b') === b)
  await page.getByRole('region', { name: 'Recommended' }).or(page.getByText('Cannot compare these runs')).waitFor()
  for (const what of ['Provider', 'Model']) {
    const box = page.getByRole('checkbox', { name: what, exact: true })
    if (!(await box.isChecked())) await box.check()
  }
  await page.getByRole('region', { name: 'Recommended' }).waitFor()
  await page.getByRole('cell', { name: 'Degraded' }).waitFor()
  assert.match(await page.getByRole('row', { name: /^Degraded/ }).innerText(), /0 \(0%\).*(100%)/s)
  const address = page.url()
  await page.goto(address)
  await page.getByRole('region', { name: 'Recommended' }).waitFor()
})

test('a log is polled after a broken stream, then followed again', async () => {
  const page = await world.page()
  world.models.hold()
  const { job_id: id } = await world.json('POST', '/simulate/trigger', { start_date: '2012-11-01', end_date: '2012-11-09', symbols: ['IBM'], models: ['lab::scripted'], initial_cash: 10000, replace_existing: true })
  await page.goto(`/app/runs/${id}?tab=log`)
  const log = page.getByRole('region', { name: 'Log' })
  await log.getByText('Live', { exact: true }).waitFor()
  const pollRequest = page.waitForRequest((request) => new URL(request.url()).pathname === `/jobs/${id}` && request.url().includes('retries='))
  world.connection.cut()
  await log.getByText(/Live updates disconnected/).waitFor()
  await pollRequest
  await log.getByText(/failed attempt/).waitFor()
  world.connection.restore()
  await log.getByText('Live', { exact: true }).waitFor()
  world.models.release()
  await log.getByText('Ended, read-only').waitFor()
  await log.locator('[data-status="completed"]').first().waitFor()
})

test('a run is started, a session opened and a message reached by keyboard', async () => {
  const page = await world.page()
  await page.goto('/app/runs')
  await page.locator('[data-run] [data-column="run"] a').first().waitFor()
  /** Presses Tab until the focused element has this name. */
  const tabTo = async (name, key = 'Tab') => {
    for (let presses = 0; presses < 80; presses += 1) {
      await page.keyboard.press(key)
      const focused = await page.evaluate(() => {
        const on = document.activeElement
        return [on?.getAttribute('aria-label'), on?.closest('label')?.textContent, on?.textContent].filter(Boolean).join(' | ')
      })
      if (name.test(focused)) return focused
    }
    throw new Error(`no element named ${name} is reachable`)
  }
  await page.keyboard.press('n')
  const form = page.getByRole('dialog', { name: 'New run' })
  await form.getByLabel('End date').waitFor()
  // Day and month are the same number, because their order depends on the browser.
  await tabTo(/^Start date/)
  await page.keyboard.type('09092012')
  await tabTo(/^End date/)
  await page.keyboard.type('10102012')
  await tabTo(/Start run/)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/app\/runs\/[0-9a-f-]{36}/)
  await page.getByText(/\b(\d+) of \1 model-days/).waitFor()
  await page.locator('.strip .day.gain, .strip .day.loss').first().waitFor()
  await tabTo(/^[A-Z][a-z]+ \d+, 2012, /)
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.waitForURL(/2012-10-10/)
  await page.getByRole('tab', { name: /Conversation/ }).waitFor()
  await tabTo(/^Decision$/)
  await page.keyboard.press('End')
  assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ''), /^Tape/)
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  await tabTo(/^Search conversation/)
  await page.keyboard.type('finish_signal')
  await page.getByText(/^\d+ of \d+$/).waitFor()
  await tabTo(/^Conversation \|/)
  await page.keyboard.press('PageDown')
  await page.getByRole('log', { name: 'Conversation' }).getByRole('article').first().waitFor()
})

test('no page violated the content policy or threw an error', () => world.assertNoProblems())
