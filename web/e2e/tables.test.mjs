// Tables and charts in a real browser: sorted by mouse and keyboard, downloaded, and readable on a phone.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { DESK, QUARTER, startWorld } from './world.mjs'

let world
let quarter
let desk
before(async () => {
  world = await startWorld()
  quarter = await world.run(QUARTER)
  desk = await world.run(DESK)
})
after(() => world.close())

/** Downloads a table or chart through its menu. */
async function download(page, what, kind) {
  const button = page.getByRole('button', { name: `Download ${what}`, exact: true })
  await button.click()
  const found = page.waitForEvent('download')
  await page.getByRole('group', { name: `Download ${what}`, exact: true }).getByRole('button', { name: kind }).click()
  const file = await found
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
}

const rowsOf = ({ bytes }) => bytes.toString('utf8').replace('\ufeff', '').trim().split('\r\n').map((line) => line.split(','))

test('a table is downloaded completely, with full precision, as CSV and as an image', async () => {
  const page = await world.page()
  await page.goto(`/app/runs/${quarter}`)
  await page.getByRole('table', { name: 'Metrics' }).waitFor()
  const file = await download(page, 'Metrics', 'CSV')
  assert.equal(file.name, 'metrics.csv')
  const [head, ...rows] = rowsOf(file)
  assert.equal(rows.length, 5, 'three agents and two baselines')
  const { results } = await world.json('GET', `/results?job_id=${quarter}`)
  for (const result of results) {
    const row = rows.find((one) => one[0] === result.model)
    const value = (name) => row[head.indexOf(name)]
    assert.equal(Number(value('total_return')), result.period_metrics.total_return)
    assert.equal(Number(value('full_research_days')), result.full_research.days)
    assert.equal(value('is_llm'), 'false')
  }
  const image = await download(page, 'Metrics', 'PNG')
  assert.equal(image.name, 'metrics.png')
  assert.equal(image.bytes.subarray(1, 4).toString(), 'PNG')

  // The page shows a part of the fills; the file has all of them.
  await page.goto(`/app/runs/${quarter}?tab=trades`)
  const fills = page.getByRole('region', { name: 'Fills' })
  await fills.getByRole('button', { name: 'All symbols' }).click()
  await fills.getByRole('table').waitFor()
  const [names, ...all] = rowsOf(await download(page, 'Fills and corporate actions', 'CSV'))
  assert.deepEqual(names.slice(0, 4), ['date', 'agent', 'session_id', 'action_id'])
  const { sessions } = await world.json('GET', `/reasoning?job_id=${quarter}&model=house::momentum&limit=200`)
  const entries = sessions.flatMap((session) => session.positions ?? [])
  assert.ok(all.length > 0 && all.length <= entries.length)
  await page.context().close()
})

test('every chart is downloaded, as CSV and as an image', async () => {
  const page = await world.page()
  await page.goto(`/app/runs/${quarter}`)
  await page.locator('.chart canvas').first().waitFor()
  await page.getByRole('table', { name: 'Metrics' }).waitFor()
  const equity = 'Daily returns and drawdown'
  const [head, ...rows] = rowsOf(await download(page, equity, 'CSV'))
  assert.deepEqual(head, ['curve', 'date', 'total_return', 'drawdown', 'is_degraded'])
  const { agents, dates } = await world.json('GET', `/jobs/${quarter}/curves`)
  const momentum = agents.find((agent) => agent.model === 'house::momentum')
  const last = rows.findLast((row) => row[0] === 'house::momentum')
  assert.equal(last[1], dates.at(-1))
  assert.equal(Number(last[2]), momentum.portfolio_values.at(-1) / momentum.starting_portfolio_value - 1)
  for (const what of [equity, 'Days', 'Rolling Sharpe ratio', 'Daily returns']) {
    const { bytes } = await download(page, what, 'PNG')
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG', what)
    assert.ok(bytes.length > 2000, `${what} is empty`)
  }
  await page.context().close()
})

test('tables sort by mouse and keyboard, and say how', async () => {
  const page = await world.page()
  await page.goto(`/app/runs/${quarter}?tab=trades`)
  const trips = page.getByRole('region', { name: 'Round trips' })
  await trips.getByRole('button', { name: 'All symbols' }).click()
  const head = trips.getByRole('columnheader', { name: 'Return' })
  const values = async () => (await trips.locator('tbody td:nth-child(5)').allInnerTexts()).map((text) => (text === '–' ? null : Number(text.replace(/[%+,]/g, ''))))
  await head.getByRole('button').click()
  await trips.locator('th[aria-sort="descending"]').waitFor()
  const down = await values()
  const numbers = down.filter((value) => value !== null)
  assert.ok(numbers.length > 1, `${down}`)
  assert.deepEqual(down, [...numbers.sort((a, b) => b - a), ...down.filter((value) => value === null)], 'the largest first, open positions last')
  await head.getByRole('button').focus()
  await page.keyboard.press('Enter')
  await trips.locator('th[aria-sort="ascending"]').waitFor()
  const up = await values()
  assert.deepEqual(up.filter((value) => value !== null), numbers.sort((a, b) => a - b))
  assert.equal(up.at(-1), down.at(-1), 'missing values stay last')
  await page.context().close()
})

test('heads stay while a table scrolls, and the quality column is always visible on a phone', async () => {
  const page = await world.page({}, { width: 390, height: 844 })
  await page.goto(`/app/runs/${quarter}?tab=trades`)
  const fills = page.getByRole('region', { name: 'Fills' })
  await fills.getByRole('button', { name: 'All symbols' }).click()
  const box = fills.locator('.table-box')
  await fills.locator('tbody tr').first().waitFor()
  // Few rows do not fill the box.
  await box.evaluate((element) => element.style.setProperty('max-height', '150px'))
  const top = await box.evaluate((element) => {
    element.scrollTop = 200
    return element.querySelector('th').getBoundingClientRect().top - element.getBoundingClientRect().top
  })
  assert.ok(Math.abs(top) < 1, `the head moved by ${top}`)

  await page.goto(`/app/runs/${quarter}`)
  const metrics = page.getByRole('table', { name: 'Metrics' })
  await metrics.waitFor()
  const frame = page.locator('.table-box', { has: metrics })
  for (const share of [0, 0.5, 1]) {
    const [left, right, name] = await frame.evaluate((element, share) => {
      element.scrollIntoView()
      element.scrollLeft = share * (element.scrollWidth - element.clientWidth)
      const cell = element.querySelector('tbody td.stays-end').getBoundingClientRect()
      return [cell.left, cell.right, element.querySelector('tbody td.stays').getBoundingClientRect().left]
    }, share)
    assert.ok(left > 0 && right <= 390 && name >= 0, `scrolled by ${share}: ${left} to ${right}`)
  }
  // The list of runs is sorted by its heads too.
  await page.goto('/app/runs')
  await page.getByRole('columnheader', { name: 'Research' }).getByRole('button').click()
  await page.waitForURL(/sort=-quality/)
  await page.context().close()
})

test('five pages are accessible on a phone, in dark Chinese', async () => {
  const page = await world.page({ language: 'zh', theme: 'dark' }, { width: 390, height: 844 })
  const violations = []
  const day = `/app/runs/${desk}/2012-10-01/desk:house::momentum`
  for (const view of ['/app/runs', `/app/runs/${quarter}`, `/app/runs/${quarter}?tab=trades`, `${day}?view=orders&symbol=IBM`, `/app/compare?select=job:${quarter}/house::momentum,baseline:buy_and_hold`]) {
    await page.goto(view)
    await page.locator('h1').first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    violations.push(...(await world.violations(page, `${view} (390, dark, zh)`)))
  }
  assert.equal(violations.join('\n'), '')
  await page.context().close()
})

test('no page violated the content policy or threw an error', () => world.assertNoProblems())
