// Runs, sessions, memory, data and settings in a real browser, served by the real program.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DESK, QUARTER, SCRIPTED_DESK, startWorld } from './world.mjs'

let world
before(async () => {
  world = await startWorld()
})
after(() => world.close())

test('a run is started from the form, watched, stopped and resumed', async () => {
  const page = await world.page()
  await page.goto('/')
  await page.waitForURL('**/app/runs')
  await page.getByText('No runs yet').waitFor()
  await page.keyboard.press('n')
  const form = page.getByRole('dialog', { name: 'New run' })
  await form.getByLabel('Start date').fill('2012-10-01')
  await form.getByLabel('End date').fill('2012-09-01')
  await form.getByRole('button', { name: 'Start run' }).click()
  await form.getByText('The end date is before the start date.').waitFor()
  await form.getByLabel('End date').fill('2013-02-28')
  await form.getByRole('combobox', { name: 'Model' }).fill('nobody::nothing')
  await form.getByRole('button', { name: 'Start run' }).click()
  await form.getByRole('alert').first().waitFor()
  await form.getByRole('combobox', { name: 'Model' }).fill('lab::scripted')
  for (const symbol of ['FB', 'GOOG', 'MSFT']) await form.getByLabel(symbol, { exact: true }).uncheck()
  world.models.hold()
  await form.getByRole('button', { name: 'Start run' }).click()

  await page.waitForURL(/\/app\/runs\/[0-9a-f-]{36}/)
  const id = new URL(page.url()).pathname.split('/').pop()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.locator('.day.running').waitFor()
  // Release responses one by one until a day is done, then stop the run while a response is pending.
  const done = page.locator('.day:not(.running):not(.queued)').first()
  for (let answers = 0; answers < 12 && (await done.count()) === 0; ) {
    answers += world.models.pass()
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  await done.waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: /Stopping/ }).waitFor()
  // A job stops after its current step, within a second: release responses until it has.
  const resume = page.getByRole('button', { name: 'Resume' })
  while (!(await resume.isVisible())) {
    world.models.pass()
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
  world.models.release()
  await resume.click()
  // The stream of a job that has not resumed yet ends at once.
  await resume.waitFor({ state: 'hidden' })
  await world.ended(id, 'completed')
  await page.getByText(/\b(\d+) of \1 model-days/).waitFor()
  await page.getByRole('table').getByText('lab::scripted').waitFor()

  await page.getByRole('group', { name: 'Days of lab::scripted' }).getByRole('link').first().click()
  await page.getByRole('article', { name: 'Decision' }).getByText('No trades today.').waitFor()
  await page.getByRole('tab', { name: /Conversation/ }).click()
  await page.getByRole('log', { name: 'Conversation' }).getByText('No trades today.').waitFor()
  await page.getByRole('tab', { name: /Tape/ }).click()
  await page.getByText('solo#1/model#1', { exact: true }).waitFor()
})

test('a degraded session is marked and links to the node', async () => {
  world.models.rejectedRoles.add('Bull Researcher')
  const id = await world.run(SCRIPTED_DESK)
  world.models.rejectedRoles.clear()
  const page = await world.page()
  await page.goto(`/app/runs/${id}`)
  await page.getByText('Some days are degraded').waitFor()
  assert.ok((await page.locator('.strip .day.degraded').count()) === 2)
  await page.locator('.strip .day.degraded').first().click()
  await page.getByText('Degraded research on this day').waitFor()
  await page.getByRole('button', { name: 'AAPL · Bull' }).click()
  const node = page.locator('[data-scope].degraded[aria-pressed="true"]')
  await node.getByText('Bull', { exact: true }).waitFor()
  // A sentence, with the code in the tooltip.
  assert.match(await node.innerText(), /The provider rejected the request/)
  assert.match((await node.getAttribute('title')) ?? '', /bull_researcher_bad_request/)
  await page.getByRole('tab', { name: 'Provenance' }).click()
  await page.getByText('Synthesis without the full debate').waitFor()
  await page.getByTitle('bull_researcher_bad_request').first().waitFor()
})

test('a fill shows its order, decision, data and memories', async () => {
  const id = await world.run(DESK)
  const page = await world.page()
  await page.goto(`/app/runs/${id}?tab=trades`)
  await page.getByRole('table').getByRole('link').first().click()
  const lineage = page.getByRole('list', { name: 'Lineage' })
  await lineage.getByText('sizing#1/order#1').waitFor()
  await lineage.getByRole('button', { name: 'Portfolio Manager' }).waitFor()
  await lineage.getByText('IBM/bars').waitFor()
  await lineage.getByRole('button', { name: 'Trader' }).click()
  await page.locator('[data-scope][aria-pressed="true"]').getByText('Trader').waitFor()
  await page.getByText('System prompt', { exact: true }).waitFor()
})

test('data of a fill, a bar and a lesson link to the sessions that saw them, at the exact message', async () => {
  const id = await world.run({ ...QUARTER, models: ['house::momentum'], initial_cash: 50000 })
  const page = await world.page()
  await page.goto(`/app/runs/${id}?tab=trades`)
  await page.getByRole('table').getByRole('link').first().click()
  const lineage = page.getByRole('list', { name: 'Lineage' })
  const symbol = (await lineage.getByRole('link', { name: /\/bars$/ }).first().innerText()).split('/')[0]
  await lineage.getByRole('link', { name: `${symbol}/bars` }).click()
  await page.waitForURL(new RegExp(`/app/data\\?.*symbol=${symbol}`))

  await page.goto(`/app/data?symbol=${symbol}&day=2012-10-10`)
  const seenBy = page.getByRole('table', { name: 'Seen by' })
  const first = seenBy.getByRole('link', { name: /^[A-Z][a-z]+ \d+, 2012$/ }).first()
  const day = await first.locator('time').getAttribute('datetime')
  assert.ok(day >= '2012-10-10', `the bar was seen before its day: ${day}`)
  await first.click()
  await page.waitForURL(new RegExp(`/app/runs/.+/${day}/.*at=`))
  await page.locator('.message.marked').waitFor()

  await page.goto('/app/memory')
  const card = page.getByRole('article').first()
  await card.getByRole('button', { name: 'Seen by' }).click()
  await card.getByRole('table', { name: 'Seen by' }).getByRole('link', { name: /, 20\d\d$/ }).first().click()
  await page.waitForURL(/\/app\/runs\/.+\/20/)
  await page.getByRole('tab', { selected: true }).waitFor()
})

test('lessons are found by keyword and link to their day', async () => {
  await world.run(QUARTER)
  const page = await world.page()
  await page.goto('/app/memory')
  await page.getByRole('article').first().waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('IBM')
  await page.keyboard.press('Enter')
  await page.getByText('Keyword search').waitFor()
  await page.waitForURL(/query=IBM/)
  assert.ok((await page.getByRole('article').count()) > 0)
  await page.getByRole('searchbox', { name: 'Search lessons' }).fill('xyzzy')
  await page.keyboard.press('Enter')
  await page.getByText('No matching lessons').waitFor()
  await page.goBack()
  await page.goto('/app/memory?tab=rounds')
  await page.getByRole('article').getByRole('link').first().click()
  await page.waitForURL(/\/app\/runs\/.+\/2012-/)
  await page.getByRole('tab', { name: /Conversation/ }).waitFor()
})

test('language, theme and gain colors are changed and stored', async () => {
  const page = await world.page({ language: 'auto', theme: 'auto' })
  await page.goto('/app/settings')
  const root = (name) => page.evaluate((name) => document.documentElement.getAttribute(name), name)
  assert.equal(await root('data-pnl'), 'green-up')
  await page.getByRole('button', { name: '中文' }).first().click()
  await page.getByRole('heading', { name: '设置', exact: true }).waitFor()
  assert.deepEqual([await root('lang'), await root('data-pnl')], ['zh-CN', 'red-up'])
  await page.getByRole('button', { name: '深色', exact: true }).click()
  await page.getByRole('button', { name: '蓝涨橙跌' }).click()
  await page.reload()
  await page.getByRole('heading', { name: '设置', exact: true }).waitFor()
  assert.deepEqual([await root('lang'), await root('data-theme'), await root('data-pnl')], ['zh-CN', 'dark', 'blue-up'])
})

test('everything is reachable by keyboard', async () => {
  const page = await world.page()
  await page.goto('/app/runs')
  await page.locator('[data-run] [data-column="run"] a').first().waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to content')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main')
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('g')
  await page.keyboard.press('d')
  await page.getByRole('heading', { name: 'Data', exact: true }).waitFor()
  await page.keyboard.press('g')
  await page.keyboard.press('r')
  await page.locator('[data-run] [data-column="run"] a').first().waitFor()
  await page.locator('[data-run] [data-column="run"] a').first().focus()
  await page.keyboard.press('Enter')
  await page.locator('.strip .day').first().waitFor()
  await page.locator('.strip .day').first().focus()
  await page.keyboard.press('ArrowRight')
  const second = await page.evaluate(() => document.activeElement?.getAttribute('href')?.split('/')[4])
  await page.keyboard.press('Enter')
  await page.locator(`h1 time[datetime="${second}"]`).waitFor()
  await page.keyboard.press(']')
  await page.waitForFunction((day) => (document.querySelector('h1 time')?.getAttribute('datetime') ?? day) !== day, second)
  await page.getByRole('tab', { name: 'Decision' }).focus()
  await page.keyboard.press('ArrowRight')
  assert.match(await page.evaluate(() => document.activeElement?.textContent ?? ''), /^Conversation/)
})

test('a broken connection is reported and reconnected during a run', async () => {
  const page = await world.page()
  world.models.hold()
  const { job_id: id } = await world.json('POST', '/simulate/trigger', { start_date: '2012-11-01', end_date: '2012-11-09', symbols: ['IBM'], models: ['lab::scripted'], initial_cash: 10000 })
  await page.goto(`/app/runs/${id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  world.connection.cut()
  await page.getByText('Live updates disconnected').waitFor()
  world.connection.restore()
  await page.getByText('Live', { exact: true }).waitFor()
  world.models.release()
  await page.getByText('7 of 7 model-days').waitFor()
  await page.locator('.status.completed').first().waitFor()
})

test('unknown pages and runs are reported', async () => {
  const page = await world.page()
  await page.goto('/app/nowhere')
  await page.getByText('Page not found').waitFor()
  await page.goto('/app/runs/00000000-0000-0000-0000-000000000000')
  await page.getByText('Run not found').waitFor()
})

test('the views are accessible, light and dark', async () => {
  const { jobs } = await world.json('GET', '/jobs?limit=50')
  const desk = jobs.find((job) => job.simulation.agents[0].name === 'desk:house::momentum')
  const quarter = jobs.find((job) => job.simulation.agents.length === 3)
  const turn = await world.json('POST', '/chat/message', { message: 'create a plan Autumn: backtest the momentum on IBM in October 2012 and compare it with buy and hold; then decompose it' })
  await world.ended(turn.job_id, 'completed')
  const { plans } = await world.json('GET', '/plans')
  const plan = plans[0]
  const day = `/app/runs/${desk.job_id}/2012-10-01/desk:house::momentum`
  const views = [
    '/app/runs',
    '/app/runs?new=true',
    `/app/runs/${quarter.job_id}`,
    `/app/runs/${quarter.job_id}?tab=trades`,
    `/app/runs/${quarter.job_id}?tab=log`,
    `/app/runs/${quarter.job_id}?tab=setup`,
    day,
    `${day}?view=orders&symbol=IBM`,
    `${day}?view=provenance`,
    `${day}?view=shown`,
    `${day}?view=calls`,
    `${day}?view=conversation`,
    `${day}?view=memory`,
    `${day}?view=tape`,
    '/app/compare',
    `/app/compare?select=job:${quarter.job_id},baseline:buy_and_hold&against=baseline:buy_and_hold`,
    '/app/experiments',
    '/app/leaderboard',
    '/app/memory',
    '/app/memory?tab=open',
    '/app/memory?tab=rounds',
    '/app/memory?tab=archives',
    '/app/data',
    '/app/data?symbol=IBM&day=2012-10-10',
    '/app/data?tab=news',
    '/app/data?tab=fundamentals',
    '/app/data?tab=macros',
    '/app/data?tab=about',
    '/app/profiles',
    `/app/profiles?a=${desk.job_id}&b=${desk.job_id}`,
    `/app/runs/${quarter.job_id}?branch=true`,
    '/app/chat',
    `/app/chat?session=${turn.session.id}`,
    '/app/plans',
    `/app/plans?plan=${plan.id}`,
    '/app/settings',
    '/app/nowhere',
    '/app/runs/00000000-0000-0000-0000-000000000000',
  ]
  const violations = []
  const page = await world.page({ theme: 'auto' })
  for (const view of views) {
    await page.goto(view)
    await page.locator('h1, h2, [role="dialog"]').first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    // A theme changes nothing but colors.
    for (const [theme, rules] of [['light'], ['dark', ['color-contrast', 'link-in-text-block']]]) {
      await page.emulateMedia({ colorScheme: theme })
      await page.locator(`html[data-theme="${theme}"]`).waitFor()
      violations.push(...(await world.violations(page, `${view} (${theme})`, rules)))
    }
  }
  await page.context().close()
  assert.equal(violations.join('\n'), '')
})

test('reviews and an audit are accessible', async () => {
  const { jobs } = await world.json('GET', '/jobs?limit=50')
  const { job_id: id } = jobs.find((job) => job.simulation?.agents[0].name === 'desk')
  const { sessions } = await world.json('GET', `/reasoning?job_id=${id}&limit=1`)
  await world.json('PATCH', `/sessions/${sessions[0].session_id}/review`, { score: 2, note: 'It held without a debate.' })
  const page = await world.page()
  await page.goto(`/app/runs/${id}?tab=reviews`)
  await page.getByRole('table', { name: 'Reviews' }).getByText('It held without a debate.').waitFor()
  const violations = await world.violations(page, 'reviews')
  await page.goto(`/app/runs/${id}?tab=setup`)
  await page.getByRole('button', { name: 'Run audit' }).click()
  const audit = page.getByRole('region', { name: 'Audit' })
  await audit.getByText(/\b(\d+) of \1 sessions audited/).waitFor()
  await audit.getByRole('table').waitFor()
  violations.push(...(await world.violations(page, 'audit')))
  assert.equal(violations.join('\n'), '')
  await page.context().close()
})

test('no page violated the content policy or threw an error', () => world.assertNoProblems())
