// The assistant, its plans, and what one does with runs, in a real browser, served by the real program.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DESK, SCRIPTED_DESK, startWorld } from './world.mjs'

let world
before(async () => {
  world = await startWorld()
})
after(() => world.close())

/** Says something to the assistant, and waits until it has answered. */
async function say(page, words) {
  await page.getByRole('textbox', { name: 'Ask the assistant' }).fill(words)
  await page.keyboard.press('Enter')
  await answered(page, words)
}

async function answered(page, words) {
  await page.getByRole('article', { name: 'You' }).getByText(words).last().waitFor()
  await page.getByRole('button', { name: 'Send' }).waitFor()
  const last = page.getByRole('article').last()
  await last.getByText('What it did').waitFor()
  await last.locator('details:not([open]) > summary', { hasText: 'What it did' }).waitFor()
  return last
}

test('what the assistant does is seen while it does it', async () => {
  const page = await world.page()
  await page.goto('/app/chat')
  await page.getByText('What shall the desk do?').waitFor()
  world.models.hold()
  const words = 'Backtest lab::scripted on IBM from 2012-11-01 to 2012-11-02'
  await page.getByRole('textbox', { name: 'Ask the assistant' }).fill(words)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL(/session=/)
  const log = page.getByRole('article', { name: 'Assistant' }).getByRole('region', { name: 'Log' })
  const row = log.locator('.joblog-row.running', { hasText: 'tool_operation/run_simulation' })
  await row.waitFor()
  await log.getByText('live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Working…' }).waitFor()
  world.models.release()
  const answer = await answered(page, words)
  await answer.getByText('2 actions', { exact: true }).click()
  await answer.locator('.summary li', { hasText: 'tool_operation/run_simulation → succeeded' }).waitFor()
  await page.goto('/app/runs')
  await page.getByRole('table').getByText('lab::scripted').first().waitFor()
})

test('a turn whose line breaks is answered all the same', async () => {
  const page = await world.page()
  await page.goto('/app/chat')
  world.models.hold()
  const words = 'Backtest lab::scripted on IBM from 2012-11-05 to 2012-11-06'
  await page.getByRole('textbox', { name: 'Ask the assistant' }).fill(words)
  await page.keyboard.press('Enter')
  const log = page.getByRole('article', { name: 'Assistant' }).getByRole('region', { name: 'Log' })
  await log.getByText('live', { exact: true }).waitFor()
  world.line.cut()
  await log.getByText(/The live line broke/).waitFor()
  world.models.release()
  world.line.mend()
  await answered(page, words)
})

test('a plan is chatted into being, executed, and deleted after a question', async () => {
  const page = await world.page()
  await page.goto('/app/chat')
  const words = 'Create a plan Autumn: backtest the momentum on IBM in October 2012 and compare it with buy and hold; then decompose it'
  await say(page, words)
  await page.getByRole('link', { name: /^Plan \d+$/ }).click()
  await page.waitForURL(/\/app\/plans\?plan=\d+/)
  const plan = page.getByRole('region', { name: 'Autumn' })
  await plan.getByRole('heading', { name: 'Autumn' }).waitFor()
  await plan.locator('.tasks li').first().waitFor()
  assert.ok((await plan.locator('.tasks li').count()) >= 2)
  await plan.getByRole('button', { name: 'Execute', exact: true }).click()
  const log = page.getByRole('region', { name: 'Log' })
  await log.getByRole('heading', { name: 'Plan execution' }).waitFor()
  await log.getByText('ended, read-only').waitFor()
  await plan.locator('.panel-head .status.completed').waitFor()
  await plan.locator('.tasks li').first().locator('.task-name').click()
  await plan.getByText('What came of it').first().waitFor()
  await page.getByRole('button', { name: /Plan execution/ }).waitFor()

  await plan.getByRole('link', { name: 'Its conversation' }).click()
  await page.getByRole('textbox', { name: 'Ask the assistant' }).waitFor()
  const number = new URL(page.url()).searchParams.get('session') && (await world.json('GET', '/plans')).plans[0].id
  await say(page, `delete plan ${number}`)
  assert.equal((await world.json('GET', '/plans')).plans.length, 1, 'nothing is deleted without a word')
  await page.getByRole('group', { name: 'Waiting for your word' }).getByRole('button', { name: 'Yes, do it' }).click()
  await answered(page, 'Yes.')
  await page.getByRole('group', { name: 'Waiting for your word' }).waitFor({ state: 'detached' })
  await page.goto('/app/plans')
  await page.getByText('There is no plan yet').waitFor()
})

test('a plan is made by hand: tasks are added, changed, moved, run and deleted', async () => {
  const page = await world.page()
  await page.goto('/app/plans')
  await page.getByRole('button', { name: 'New plan' }).first().click()
  await page.getByRole('textbox', { name: 'Name of the plan' }).fill('By hand')
  await page.getByRole('button', { name: 'Make the plan' }).click()
  await page.waitForURL(/plan=\d+/)
  const plan = page.getByRole('region', { name: 'By hand' })
  const names = () => plan.locator('.task-name b').allInnerTexts()
  const add = async (name, instruction) => {
    await plan.getByRole('button', { name: 'Add a task', exact: true }).click()
    const form = plan.getByRole('form', { name: 'Add a task' })
    await form.getByLabel('Name').fill(name)
    await form.getByLabel('Instruction').fill(instruction)
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    await plan.locator('.task-name', { hasText: name }).waitFor()
  }
  await add('first', 'help')
  await add('second', 'list plans')
  assert.deepEqual(await names(), ['first', 'second'])
  await plan.getByRole('button', { name: 'Move “second” up' }).click()
  await plan.locator('.tasks li').first().locator('b', { hasText: 'second' }).waitFor()
  await plan.getByRole('button', { name: 'Edit “first”' }).click()
  const form = plan.getByRole('form', { name: 'Edit “first”' })
  await form.getByLabel('Name').fill('renamed')
  await form.getByLabel('Part of').selectOption({ label: 'second' })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  await plan.locator('.task-name', { hasText: 'renamed' }).waitFor()
  const { tasks } = await world.json('GET', `/plans/${new URL(page.url()).searchParams.get('plan')}/tasks`)
  assert.deepEqual(tasks.map((task) => [task.name, task.depth]), [['second', 0], ['renamed', 1]])
  await plan.getByRole('button', { name: 'Run “renamed”' }).click()
  await page.getByRole('region', { name: 'Log' }).getByText('ended, read-only').waitFor()
  await plan.getByRole('button', { name: 'Run “renamed” again' }).waitFor()
  await plan.getByRole('button', { name: 'Delete “second”' }).click()
  await page.getByRole('dialog', { name: 'Delete the task “second”?' }).getByRole('button', { name: 'Delete' }).click()
  await plan.getByText('It has no tasks yet').waitFor()
  await plan.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await plan.waitFor({ state: 'detached' })
})

test('a run is branched off on a day, with another model', async () => {
  const id = await world.run({ start_date: '2012-10-01', end_date: '2012-10-05', symbols: ['IBM'], models: ['house::momentum'], initial_cash: 10000 })
  const page = await world.page()
  await page.goto(`/app/runs/${id}`)
  await page.getByRole('button', { name: 'Branch' }).click()
  const form = page.getByRole('dialog', { name: 'Branch off' })
  await form.getByLabel('Day').fill('2012-11-03')
  await form.getByRole('button', { name: 'Start the branch' }).click()
  await form.getByRole('alert').getByText(/2012-11-03/).waitFor()
  await form.getByLabel('Day').fill('2012-10-03')
  await form.getByLabel('Model').fill('house::contrarian')
  await form.getByText(/papertape branch .* --date 2012-10-03 .*--model house::contrarian/).waitFor()
  await form.getByRole('button', { name: 'Start the branch' }).click()
  await page.waitForURL((url) => !url.pathname.endsWith(id))
  await page.getByText(/branched on 3 Oct 2012/).waitFor()
  await page.getByText('5 of 5 model-days').waitFor()
  await page.getByRole('link', { name: /branched on/ }).click()
  await page.waitForURL((url) => url.pathname.endsWith(id))
})

test('two desks are compared by where their time goes', async () => {
  const a = await world.run(DESK)
  world.models.refuses.add('Bull Researcher')
  const b = await world.run({ ...SCRIPTED_DESK, start_date: DESK.start_date, end_date: DESK.end_date })
  world.models.refuses.clear()
  const page = await world.page()
  await page.goto('/app/profiles')
  await page.getByText('Choose two runs of desks').waitFor()
  await page.getByLabel('First run').selectOption(a)
  await page.getByLabel('Second run').selectOption(b)
  await page.waitForURL((url) => url.searchParams.get('a') === a && url.searchParams.get('b') === b)
  await page.getByRole('region', { name: 'To be preferred' }).or(page.getByText('These runs are not compared')).waitFor()
  for (const what of ['provider', 'model']) {
    const box = page.getByRole('checkbox', { name: what, exact: true })
    if (!(await box.isChecked())) await box.check()
  }
  await page.getByRole('region', { name: 'To be preferred' }).waitFor()
  await page.getByRole('cell', { name: 'Degraded' }).waitFor()
  assert.match(await page.getByRole('row', { name: /^Degraded/ }).innerText(), /0 \(0%\).*(100%)/s)
  const address = page.url()
  await page.goto(address)
  await page.getByRole('region', { name: 'To be preferred' }).waitFor()
})

test('a log whose line breaks in mid-stream is polled, and taken up again', async () => {
  const page = await world.page()
  world.models.hold()
  const { job_id: id } = await world.json('POST', '/simulate/trigger', { start_date: '2012-11-01', end_date: '2012-11-09', symbols: ['IBM'], models: ['lab::scripted'], initial_cash: 10000, replace_existing: true })
  await page.goto(`/app/runs/${id}?tab=log`)
  const log = page.getByRole('region', { name: 'Log' })
  await log.getByText('live', { exact: true }).waitFor()
  const polled = page.waitForRequest((request) => new URL(request.url()).pathname === `/jobs/${id}` && request.url().includes('retries='))
  world.line.cut()
  await log.getByText(/The live line broke/).waitFor()
  await polled
  await log.getByText(/try in a row failed/).waitFor()
  world.line.mend()
  await log.getByText('live', { exact: true }).waitFor()
  world.models.release()
  await log.getByText('ended, read-only').waitFor()
  await log.locator('.joblog-row.completed').first().waitFor()
})

test('a run is started, a session opened and a message reached by the keyboard alone', async () => {
  const page = await world.page()
  await page.goto('/app/runs')
  await page.locator('.runs-link').first().waitFor()
  /** Presses Tab until what is focused is named so. */
  const tabTo = async (name, key = 'Tab') => {
    for (let presses = 0; presses < 80; presses += 1) {
      await page.keyboard.press(key)
      const focused = await page.evaluate(() => {
        const on = document.activeElement
        return [on?.getAttribute('aria-label'), on?.closest('label')?.textContent, on?.textContent].filter(Boolean).join(' | ')
      })
      if (name.test(focused)) return focused
    }
    throw new Error(`nothing named ${name} can be reached`)
  }
  await page.keyboard.press('n')
  const form = page.getByRole('dialog', { name: 'New run' })
  await form.getByLabel('Last day').waitFor()
  // Day and month are the same number: in which order they are typed is the browser's.
  await tabTo(/^First day/)
  await page.keyboard.type('09092012')
  await tabTo(/^Last day/)
  await page.keyboard.type('10102012')
  await tabTo(/Start the run/)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/app\/runs\/[0-9a-f-]{36}/)
  await page.getByText(/\b(\d+) of \1 model-days/).waitFor()
  await page.locator('.strip .day.gain, .strip .day.loss').first().waitFor()
  await tabTo(/^\d+ \w+ 2012, /)
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  await page.waitForURL(/2012-10-10/)
  await page.getByRole('tab', { name: /Conversation/ }).waitFor()
  await tabTo(/^Conversation \d|^Conversation$|^Conversation\d/)
  await page.keyboard.press('End')
  assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ''), /^Tape/)
  await page.keyboard.press('Home')
  await tabTo(/^Find in the conversation/)
  await page.keyboard.type('finish_signal')
  await page.getByText(/^\d+ of \d+$/).waitFor()
  await tabTo(/^Conversation \|/)
  await page.keyboard.press('PageDown')
  await page.getByRole('log', { name: 'Conversation' }).getByRole('article').first().waitFor()
})

test('nothing was refused by the page’s policy, and nothing was thrown', () => world.untroubled())
