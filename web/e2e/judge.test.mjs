// Pages to judge by: comparisons, experiments, reading a session and the command palette, served by the real program.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld } from './world.mjs'

/** Enough days for a verdict. */
const SEASON = { start_date: '2012-01-03', end_date: '2012-03-30', symbols: ['AAPL', 'IBM'], models: ['house::momentum', 'house::contrarian'], initial_cash: 100000 }
const WEEK = { start_date: '2012-10-01', end_date: '2012-10-05', symbols: ['IBM'], models: ['lab::scripted'], initial_cash: 10000 }

let world
let season
let week
before(async () => {
  world = await startWorld()
  season = await world.run(SEASON)
  week = await world.run(WEEK)
})
after(() => world.close())

test('agents are selected and compared, and the link holds the whole comparison', async () => {
  const page = await world.page()
  await page.goto('/app/compare')
  const add = page.getByRole('combobox', { name: 'Add…' })
  await page.getByText('Select two to six items').waitFor()
  for (const agent of SEASON.models) {
    await add.locator(`option[value="job:${season}/${agent}"]`).waitFor({ state: 'attached' })
    await add.selectOption(`job:${season}/${agent}`)
  }
  await page.waitForURL(/\/app\/compare\?select=/)
  const verdicts = page.getByRole('region', { name: 'Verdicts' }).first()
  await verdicts.locator('[data-verdict]').first().waitFor()
  // The words are the server's.
  const address = page.url()
  const { pairs } = await world.json('GET', `/compare${new URL(address).search}`)
  assert.equal((await verdicts.locator('[data-verdict]').first().innerText()).replace(/^\S+ /, ''), pairs[0].words)
  for (const reason of pairs[0].reasons) await verdicts.getByText(reason).waitFor()

  await add.selectOption('baseline:buy_and_hold')
  await verdicts.getByRole('button', { name: /against/ }).nth(2).waitFor()
  await page.getByRole('combobox', { name: 'Against' }).selectOption('baseline:buy_and_hold')
  await verdicts.getByText(/2 tests against/).waitFor()
  await verdicts.getByRole('button', { name: /against/ }).nth(1).click()
  await page.getByRole('button', { name: 'Previous day' }).click()
  await page.waitForURL(/pair=1.*day=2012-03-29|day=2012-03-29.*pair=1/)
  await page.reload()
  await verdicts.locator('button[aria-pressed="true"]').waitFor()
  assert.equal(await page.getByRole('combobox', { name: 'Day', exact: true }).inputValue(), '2012-03-29')
  await page.getByRole('region', { name: 'One day' }).getByRole('article', { name: 'house::momentum' }).getByText(/order/).first().waitFor()
  assert.deepEqual(await world.violations(page, 'compare'), [])
})

test('a short run has no interval and no verdict, and unlike runs are not compared', async () => {
  const page = await world.page()
  await page.goto(`/app/compare?select=job:${week},baseline:buy_and_hold`)
  const verdicts = page.getByRole('region', { name: 'Verdicts' }).first()
  await verdicts.locator('[data-verdict="too_few_days"]').first().waitFor()
  await verdicts.getByText('no interval under 20 days').first().waitFor()
  await page.getByText('No band under 20 comparable days.').waitFor()
  await page.goto(`/app/compare?select=job:${week},job:${season}/house::momentum`)
  await verdicts.locator('[data-verdict="not_comparable"]').first().waitFor()
  await page.getByText(/Not comparable, differs in: .*Days/).waitFor()
})

test('a branch is compared with its parent at the first step that differs', async () => {
  const { job_id: branch } = await world.json('POST', `/simulate/${season}/branch`, { date: '2012-03-01', agent: 'house::momentum', model: 'house::contrarian' })
  await world.ended(branch, 'completed')
  const page = await world.page()
  await page.goto(`/app/compare?select=job:${branch},baseline:buy_and_hold`)
  await page.getByRole('button', { name: 'Add the branch’s parent' }).click()
  await page.getByRole('button', { name: 'Remove Buy-and-hold' }).click()
  const view = page.getByRole('region', { name: 'Branch', exact: true })
  await view.getByText('First step that differs').waitFor()
  await view.locator('pre').getByText(/^[-+]/).first().waitFor()
  await view.getByRole('link', { name: 'Parent' }).click()
  await page.waitForURL(/\/app\/runs\/.+\/2012-03-01\/.*at=/)
})

test('the leaderboard ranks comparable runs, sorts them, and opens a comparison', async () => {
  const { boards } = await world.json('GET', '/leaderboard?summary=true')
  const board = boards.find((one) => one.runs > 1)
  assert.ok(board, 'a board with several runs')
  const page = await world.page({}, { width: 390, height: 844 })
  await page.goto(`/app/leaderboard?board=${board.board_id}`)
  const table = page.getByRole('table', { name: 'Leaderboard' })
  await table.getByText('Buy-and-hold').first().waitFor()
  await table.getByRole('button', { name: /^Return/ }).click()
  await table.getByRole('columnheader', { name: /Return/, exact: false }).first().waitFor()
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
  assert.equal(wide, false, 'the page fits a phone')
  assert.deepEqual(await world.violations(page, 'leaderboard'), [])
  assert.equal(await page.getByRole('combobox', { name: 'Board' }).inputValue(), board.board_id)
  await page.getByRole('link', { name: /Compare the first/ }).click()
  await page.waitForURL(/\/app\/compare\?select=/)
  await page.getByRole('region', { name: 'Verdicts' }).first().locator('[data-verdict]').first().waitFor()
})

test('an experiment shows its jobs and trials, and opens its comparison', async () => {
  const { experiment_id: id, jobs } = await world.json('POST', '/experiments', {
    simulation: { start_date: '2012-04-02', end_date: '2012-06-29', symbols: ['IBM'], models: ['house::momentum', 'lab::scripted'], initial_cash: 10000 },
    trials: 2,
    windows: { count: 2, days: 5 },
    compare: 'buy_and_hold',
  })
  for (const job of jobs) await world.ended(job, 'completed')
  const page = await world.page()
  await page.goto('/app/experiments')
  await page.getByRole('link', { name: id.slice(-8) }).click()
  await page.getByText('4 of 4 jobs').waitFor()
  const results = page.getByRole('region', { name: 'Results by agent and window' })
  await results.getByRole('row', { name: /^Mean/ }).nth(1).waitFor()
  await results.getByText('Runs once').waitFor()
  await page.getByRole('region', { name: 'Jobs' }).first().getByText('10 of 10 model-days').first().waitFor()
  assert.deepEqual(await world.violations(page, 'experiment'), [])
  await page.getByRole('link', { name: 'Compare', exact: true }).last().click()
  await page.getByRole('region', { name: 'Verdicts' }).first().locator('[data-verdict]').first().waitFor()
})

test('a session opens on its decision, and tells what the agent read from what the books read', async () => {
  const page = await world.page()
  await page.goto(`/app/runs/${season}/2012-03-01/house::momentum`)
  await page.getByRole('tab', { name: 'Decision', selected: true }).waitFor()
  await page.getByRole('article', { name: 'Decision' }).waitFor()
  await page.getByRole('tab', { name: /Data read/ }).click()
  const books = page.locator('details', { hasText: 'Read by the books' })
  assert.equal(await books.getAttribute('open'), null)
  const open = page.locator('details[open]', { hasText: 'Read by the agent' }).first()
  assert.doesNotMatch(await open.innerText(), /close#1/)
  await page.getByRole('tab', { name: /Calls/ }).click()
  await page.getByRole('button', { name: 'Agent · model#1' }).click()
  await page.getByRole('region', { name: 'Request' }).getByText('System prompt', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Response' }).waitFor()
  await page.getByRole('tab', { name: /Conversation/ }).click()
  await page.getByRole('button', { name: 'Diff' }).nth(0).click()
  await page.getByRole('button', { name: 'Diff' }).nth(1).click()
  await page.getByRole('region', { name: 'Difference' }).locator('pre').waitFor()
  assert.deepEqual(await world.violations(page, 'conversation with a diff'), [])
})

test('an external agent’s session shows its decision, its order, what it read, and that it is unverified', async () => {
  const agents = [{ name: 'mine', kind: 'external', external: 'daily' }]
  const job = await world.run({ start_date: '2012-10-01', end_date: '2012-10-02', symbols: ['IBM'], agents, initial_cash: 10000 })
  const page = await world.page()
  await page.goto(`/app/runs/${job}/2012-10-02/mine`)
  await page.getByRole('tab', { name: 'Decision', selected: true }).waitFor()
  const decision = page.getByRole('article', { name: 'Decision' })
  await decision.locator('strong').getByText('intact').waitFor()
  await page.getByTitle('An external agent may know or read anything').first().waitFor()
  await page.getByRole('button', { name: 'Why?' }).click()
  const lineage = page.getByRole('list', { name: 'Lineage' })
  await lineage.getByText('one share a day').waitFor()
  await lineage.getByText('one more share').waitFor()
  await lineage.getByRole('link', { name: 'IBM/open' }).waitFor()
  assert.deepEqual(await world.violations(page, 'external session'), [])
})

test('the palette opens a session by date and agent, and finds a message', async () => {
  const page = await world.page()
  await page.goto('/app/data')
  await page.getByRole('heading', { name: 'Data', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  const input = page.getByRole('combobox', { name: 'Command palette' })
  await input.fill('2012-03-02 contrarian')
  const session = page.getByRole('group', { name: 'Sessions' }).getByRole('option', { name: /Mar 2, 2012 · house::contrarian/ })
  await session.waitFor()
  assert.deepEqual(await world.violations(page, 'palette'), [])
  await session.click()
  await page.waitForURL(new RegExp(`/app/runs/${season}/2012-03-02/house`))
  await page.keyboard.press('Control+k')
  await input.fill('unchanged trades today')
  const hit = page.getByRole('option', { name: /lab::scripted/ }).first()
  await hit.getByText(/No trades today/).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/view=conversation&at=/)
  await page.locator('.message.marked').getByText('No trades today.').waitFor()
})

test('the palette finds a run by its name, however old it is', async () => {
  await world.json('PATCH', `/jobs/${week}/labels`, { name: 'Golden autumn' })
  // Queued runs push it off the first page, and are never worked on.
  world.models.hold()
  const { experiment_id: id, jobs } = await world.json('POST', '/experiments', { simulation: { ...WEEK, symbols: ['MSFT'] }, trials: 41 })
  await world.json('POST', `/experiments/${id}/cancel`)
  world.models.release()
  const newest = await world.json('GET', '/jobs?kind=simulate&limit=40')
  assert.ok(jobs.length > 40 && newest.jobs.every((job) => job.job_id !== week), 'the run is among the newest')
  const page = await world.page()
  await page.goto('/app/data')
  await page.getByRole('heading', { name: 'Data', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Command palette' }).fill('golden')
  await page.getByRole('group', { name: 'Runs' }).getByRole('option', { name: /^Golden autumn/ }).click()
  await page.waitForURL(`**/app/runs/${week}`)
  await page.getByRole('heading', { name: /^Golden autumn/ }).waitFor()
  await page.context().close()
})

test('no page violated the content policy or threw an error', () => world.assertNoProblems())
