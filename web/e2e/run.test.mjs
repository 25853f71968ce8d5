// The page of a run in a real browser, served by the real program: live, its charts, its trades, and on a phone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { QUARTER, startWorld } from './world.mjs'

let world
before(async () => {
  world = await startWorld()
})
after(() => world.close())

/** Three weeks of the scripted model. */
const SCRIPTED = { start_date: '2012-11-01', end_date: '2012-11-21', symbols: ['IBM'], models: ['lab::scripted'], initial_cash: 10000 }

const equity = (page) => page.locator('.chart-box.equity')

/** Waits until the chart shows these days. */
async function showsDays(box, from, to) {
  await box.page().waitForFunction(([element, from, to]) => element.dataset.from === from && element.dataset.to === to, [await box.elementHandle(), from, to])
}

/** Releases responses one by one until the condition holds. */
async function passUntil(page, condition) {
  while (!(await condition())) {
    world.models.pass()
    await page.evaluate(() => new Promise(requestAnimationFrame))
  }
}

test('a run is drawn from the start over all planned days, and no request is answered with 404', async () => {
  const page = await world.page()
  const missing = []
  page.on('response', (response) => response.status() === 404 && missing.push(response.url()))
  world.models.hold()
  const { job_id: id } = await world.json('POST', '/simulate/trigger', SCRIPTED)
  // The first day has just begun, and the last one waits.
  const days = [SCRIPTED.start_date, SCRIPTED.end_date].map((date) => `/app/runs/${id}/${date}/lab::scripted`)
  for (const view of [...days, '/app/runs', `/app/runs/${id}?tab=trades`, `/app/runs/${id}?tab=setup`, `/app/runs/${id}`]) {
    await page.goto(view)
    await page.locator('h1').first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  }
  await page.getByText('Live', { exact: true }).waitFor()
  // The last weekday before the first day is the place of the start.
  await showsDays(equity(page), '2012-10-31', '2012-11-21')
  const closed = page.locator('.strip .day:not(.running):not(.queued)')
  await passUntil(page, async () => (await closed.count()) >= 2)
  await page.locator('.legend-item', { hasText: 'Buy-and-hold' }).waitFor()
  await showsDays(equity(page), '2012-10-31', '2012-11-21')
  world.models.release()
  await page.locator('.facts .status.completed').waitFor()
  await page.getByText(/\b(\d+) of \1 model-days/).waitFor()
  await showsDays(equity(page), '2012-10-31', '2012-11-21')
  assert.deepEqual(missing, [])
  await page.context().close()
})

test('a page survives a server that is away, and is up to date two seconds after its first answer', async () => {
  const page = await world.page()
  world.models.hold()
  const { job_id: id } = await world.json('POST', '/simulate/trigger', { ...SCRIPTED, replace_existing: true })
  await page.goto(`/app/runs/${id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.getByRole('status').getByText('Server healthy').waitFor()

  let began = performance.now()
  world.connection.cut()
  await page.getByRole('status').getByText('Server unreachable').waitFor()
  assert.ok(performance.now() - began < 3000, 'the mark turned late')
  await page.getByText('Live updates disconnected').waitFor()
  assert.equal(await page.getByText('Live', { exact: true }).count(), 0)
  // Clicks keep the app: to a view that was open, and to one that was not.
  for (const name of ['Memory', 'Plans', 'Runs']) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).click()
    await page.waitForURL(`**/app/${name.toLowerCase()}`)
    await page.getByRole('navigation').waitFor()
  }
  await page.goBack()
  await page.goBack()
  await page.goBack()
  await page.getByText('Live updates disconnected').waitFor()
  // The run ends while the page is disconnected.
  world.models.release()
  await world.ended(id, 'completed')

  let answered = 0
  page.on('response', () => (answered ||= performance.now()))
  began = performance.now()
  world.connection.restore()
  await page.locator('.facts .status.completed').waitFor()
  await page.getByText(/\b(\d+) of \1 model-days/).waitFor()
  await page.locator('.strip .day.running, .strip .day.queued').first().waitFor({ state: 'detached' })
  assert.ok(performance.now() - answered < 2000, `up to date after ${Math.round(performance.now() - answered)} ms`)
  await page.getByRole('status').getByText('Server healthy').waitFor()
  assert.ok(performance.now() - began < 3000, 'the mark turned back late')
  await page.context().close()
})

test('the charts of a run zoom by presets, and its history is complete', async () => {
  const id = await world.run(QUARTER)
  const page = await world.page()
  await page.goto(`/app/runs/${id}`)
  await showsDays(equity(page), '2012-09-28', '2012-12-31')
  const chart = page.getByRole('region', { name: 'Daily returns and drawdown' })
  await chart.getByRole('button', { name: '1M', exact: true }).click()
  await showsDays(equity(page), '2012-11-30', '2012-12-31')
  await chart.getByRole('button', { name: 'Log', exact: true }).click()
  await chart.locator('button[aria-pressed="true"]', { hasText: 'Log' }).waitFor()
  await chart.getByRole('button', { name: 'Reset', exact: true }).click()
  await showsDays(equity(page), '2012-09-28', '2012-12-31')
  await chart.getByLabel('Benchmark').selectOption('IBM')
  await chart.locator('.legend-item', { hasText: 'IBM' }).waitFor()

  const { results } = await world.json('GET', `/results?job_id=${id}`)
  const momentum = results.find((result) => result.model === 'house::momentum')
  const months = page.getByRole('region', { name: 'Monthly returns' })
  await months.getByText(/\(ET\)/).waitFor()
  // The months, and the total of the year.
  assert.equal(await months.getByRole('cell').filter({ hasText: '%' }).count(), momentum.history.months.length + 1)
  await page.getByRole('img', { name: 'Rolling Sharpe ratio' }).waitFor()
  await page.getByText('Neighbors overlap').waitFor()
  await page.getByRole('img', { name: 'Daily returns', exact: true }).waitFor()
  const drawdowns = page.getByRole('table', { name: 'Worst drawdowns' })
  assert.equal(await drawdowns.getByRole('row').count(), 1 + momentum.history.drawdowns.length)
  // The deepest first.
  const depth = new Intl.NumberFormat('en-US', { style: 'percent', minimumFractionDigits: 2 }).format(momentum.history.drawdowns[0].depth)
  assert.match(await drawdowns.getByRole('row').nth(1).innerText(), new RegExp(depth.replace('.', '\\.')))

  const metrics = page.getByRole('table', { name: 'Metrics' })
  await metrics.getByRole('button', { name: 'Return', exact: true }).click()
  await metrics.getByRole('columnheader', { name: 'Return', exact: true }).and(page.locator('[aria-sort="descending"]')).waitFor()
  await page.context().close()
})

test('round trips add up to the ledger’s results, and follow the charted symbol', async () => {
  const id = await world.run({ ...QUARTER, models: ['house::momentum'], initial_cash: 50000 })
  const { trades } = await world.json('GET', `/memory/trades?job_id=${id}&limit=200`)
  const closed = new Set(trades.filter((trade) => trade.position_closed).map((trade) => trade.position_id))
  assert.ok(closed.size > 0, 'the run closes positions')
  const money = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD', signDisplay: 'exceptZero' })
  const total = (symbol) => trades.filter((trade) => closed.has(trade.position_id) && (!symbol || trade.symbol === symbol)).reduce((sum, trade) => sum + trade.pnl, 0)

  const page = await world.page()
  await page.goto(`/app/runs/${id}?tab=trades`)
  const trips = page.getByRole('region', { name: 'Round trips' })
  await page.getByRole('region', { name: 'Prices' }).locator('.readout').getByText('O', { exact: true }).waitFor()
  await trips.getByRole('button', { name: 'All symbols' }).click()
  await trips.getByText(money.format(total())).first().waitFor()
  const symbol = trades.find((trade) => closed.has(trade.position_id)).symbol
  await page.getByRole('region', { name: 'Prices' }).getByRole('button', { name: symbol, exact: true }).click()
  await trips.getByRole('button', { name: symbol, exact: true }).click()
  await trips.getByText(money.format(total(symbol))).first().waitFor()
  const symbols = await trips.locator('tbody tr td:first-child').allInnerTexts()
  assert.deepEqual([...new Set(symbols)], [symbol])
  // Each trip links to the fill that opened it.
  await trips.getByRole('table').getByRole('link').first().click()
  await page.getByRole('list', { name: 'Lineage' }).waitFor()
  await page.context().close()
})

test('nothing overflows a phone, in dark Chinese, and theme, language and quality are visible', async () => {
  const id = await world.run(QUARTER)
  const { experiment_id: experiment } = await world.json('POST', '/experiments', { simulation: SCRIPTED, trials: 2, compare: 'buy_and_hold' })
  const turn = await world.json('POST', '/chat/message', { message: 'create a plan Autumn: backtest the momentum on IBM in October 2012 and compare it with buy and hold; then decompose it' })
  await world.ended(turn.job_id, 'completed')
  const { plans: [plan] } = await world.json('GET', '/plans')
  const page = await world.page({ language: 'zh', theme: 'dark' }, { width: 390, height: 844 })
  const wide = []
  const run = `/app/runs/${id}`
  const views = [
    ...['/app/runs', '/app/runs?new=true', run, `${run}?tab=trades`, `${run}?tab=log`, `${run}?tab=setup`, `${run}/2012-10-01/house::momentum`],
    ...['/app/compare', `/app/compare?select=job:${id},baseline:buy_and_hold`, '/app/experiments', `/app/experiments/${experiment}`, '/app/leaderboard'],
    ...['/app/memory', '/app/data', '/app/profiles', '/app/chat', `/app/chat?session=${turn.session.id}`, '/app/plans', `/app/plans?plan=${plan.id}`, '/app/settings'],
  ]
  for (const view of views) {
    await page.goto(view)
    await page.locator('h1, h2, [role="dialog"]').first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    const [width, dialog] = await page.evaluate(() => [document.documentElement.scrollWidth, document.querySelector('dialog .sheet-body')?.scrollWidth ?? 0])
    if (width > 390 || dialog > 390) wide.push(`${view}: ${width} ${dialog}`)
  }
  assert.deepEqual(wide, [])
  await page.goto(`/app/runs/${id}`)
  const metrics = page.getByRole('table', { name: '指标' })
  await metrics.getByText('全部完整').first().scrollIntoViewIfNeeded()
  const box = await metrics.getByText('全部完整').first().boundingBox()
  assert.ok(box && box.x + box.width <= 390, 'the quality is outside of the page')
  await page.evaluate(() => scrollTo(0, 0))
  for (const name of ['切换到浅色主题', 'English']) {
    const found = await page.getByRole('button', { name }).boundingBox()
    assert.ok(found && found.x >= 0 && found.x + found.width <= 390, `${name} is outside of the page`)
  }
  await page.getByRole('button', { name: 'English' }).click()
  await page.getByRole('tab', { name: 'Performance' }).waitFor()
  await page.context().close()
})

test('a preset fills the form, and the estimate and the command are those of the run', async () => {
  const page = await world.page()
  await page.goto('/app/runs?new=true')
  const form = page.getByRole('dialog', { name: 'New run' })
  await form.getByRole('button', { name: /^Compare with trials/ }).click()
  await form.getByText(/papertape run .*--start 2012-10-01 --end 2012-12-31 --trials 3/).waitFor()
  const estimate = form.getByRole('region', { name: 'Estimate' })
  await estimate.getByText('Estimation method').click()
  // Rules call no language model.
  await estimate.getByText('$0.00').waitFor()
  const request = page.waitForRequest((request) => request.url().endsWith('/experiments') && request.method() === 'POST')
  await form.getByRole('button', { name: 'Start experiment' }).click()
  const { simulation, trials } = (await request).postDataJSON()
  assert.deepEqual([trials, simulation.agents.length], [3, 2])
  await page.waitForURL(/\/app\/experiments\/./)
  const { experiment } = await world.json('GET', new URL(page.url()).pathname.replace('/app', ''))
  assert.equal(experiment.agents.length, 2)
  await page.context().close()
})

test('no page violated the content policy or threw an error', () => world.assertNoProblems())
