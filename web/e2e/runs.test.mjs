// The list of runs in a real browser: labeled, searched, sorted, compared and downloaded.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { startWorld } from './world.mjs'

const WEEK = { start_date: '2012-10-01', end_date: '2012-10-05', initial_cash: 10000, summaries: false }

let world
before(async () => {
  world = await startWorld()
})
after(() => world.close())

test('runs are labeled, found, sorted, compared and downloaded', async () => {
  const first = await world.run({ ...WEEK, symbols: ['AAPL'], models: ['house::momentum'] })
  const second = await world.run({ ...WEEK, symbols: ['IBM'], models: ['house::contrarian', 'house::buy_and_hold'] })
  await world.run({ ...WEEK, symbols: ['MSFT'], models: ['house::momentum'], seed: 3 })
  const page = await world.page()
  await page.goto('/app/runs')
  const table = page.getByRole('table', { name: 'Runs' })
  await table.getByRole('link', { name: 'IBM', exact: true }).waitFor()

  // Labels are edited in the row, and are in the record.
  await page.getByRole('button', { name: 'Edit labels of IBM' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Cautious autumn')
  await page.getByLabel('Tags', { exact: true }).fill('paper, autumn')
  await page.getByLabel('Note', { exact: true }).fill('Compare with the other one')
  await page.getByRole('button', { name: 'Save' }).click()
  await table.getByRole('link', { name: 'Cautious autumn' }).waitFor()
  const { job } = await world.json('GET', `/jobs/${second}`)
  assert.deepEqual([job.labels.name, job.labels.tags], ['Cautious autumn', ['autumn', 'paper']])

  // The search is in the address and survives a reload.
  const rows = table.locator('[data-run]')
  await page.keyboard.press('/')
  await page.keyboard.type('AUTUMN contrarian')
  await page.waitForURL(/search=AUTUMN/)
  await page.waitForFunction(() => document.querySelectorAll('[data-run]').length === 1)
  await page.reload()
  await table.getByRole('link', { name: 'Cautious autumn' }).waitFor()
  assert.equal(await rows.count(), 1)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.waitForFunction(() => document.querySelectorAll('[data-run]').length === 3)
  await table.getByRole('link', { name: 'Show runs tagged paper' }).click()
  await page.waitForURL(/tag=paper/)
  await page.waitForFunction(() => document.querySelectorAll('[data-run]').length === 1)
  await page.getByRole('button', { name: 'Clear filters' }).click()

  // Named runs come first in the order of names.
  await page.getByRole('columnheader', { name: 'Run' }).getByRole('button').click()
  await page.waitForURL(/sort=name/)
  await page.waitForFunction(() => document.querySelector('[data-run] [data-column="run"] a')?.textContent === 'Cautious autumn')
  assert.equal(await page.getByRole('columnheader', { name: 'Run' }).getAttribute('aria-sort'), 'ascending')

  // Results of each agent are next to it.
  await table.locator('[data-column="return"] .up, [data-column="return"] .down').first().waitFor()
  // The small chart of each agent.
  await table.locator('[data-column="equity"] svg path').first().waitFor({ state: 'attached' })
  const menu = page.getByRole('group', { name: 'Download Runs' })
  await page.getByRole('button', { name: 'Download Runs' }).click()
  const download = page.waitForEvent('download')
  await menu.getByRole('button', { name: 'CSV' }).click()
  const lines = (await readFile(await (await download).path(), 'utf8')).trim().split('\r\n')
  assert.equal(lines.length, 5, 'a header and four agents')
  assert.match(lines[1], /Cautious autumn,autumn paper,Compare with the other one,completed/)
  assert.match(lines[0], /total_return/)
  await menu.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Download Runs' }).click()
  const image = page.waitForEvent('download')
  await menu.getByRole('button', { name: 'PNG' }).click()
  const bytes = await readFile(await (await image).path())
  assert.deepEqual([...bytes.subarray(1, 4)], [...'PNG'].map((letter) => letter.charCodeAt(0)))

  await page.getByRole('checkbox', { name: 'Select Cautious autumn to compare' }).check()
  await page.getByRole('checkbox', { name: 'Select AAPL to compare' }).check()
  const compare = new URL(await page.getByRole('link', { name: 'Compare 2 runs' }).getAttribute('href'), world.url)
  assert.deepEqual(compare.searchParams.get('select').split(',').sort(), [`job:${first}`, `job:${second}`].sort())

  // A column is hidden for good; the research quality cannot be.
  await page.getByText('Columns', { exact: true }).click()
  await page.getByLabel('Drawdown').uncheck()
  await page.reload()
  await page.getByRole('columnheader', { name: 'Research' }).waitFor()
  assert.equal(await page.getByRole('columnheader', { name: 'Drawdown' }).count(), 0)
  const violations = await world.violations(page, '/app/runs')
  assert.equal(violations.join('\n'), '')

  // Between a phone and a wide screen, the list scrolls sideways under its quality.
  const narrow = await world.page({}, { width: 900, height: 800 })
  await narrow.goto('/app/runs')
  await narrow.locator('[data-column="quality"]').first().waitFor()
  for (const share of [0, 1]) {
    const isVisible = await narrow.getByRole('table', { name: 'Runs' }).evaluate((box, share) => {
      box.scrollLeft = share * (box.scrollWidth - box.clientWidth)
      const [outer, cell] = [box, box.querySelector('[data-column="quality"]')].map((one) => one.getBoundingClientRect())
      return cell.left >= outer.left && cell.right <= outer.right + 1
    }, share)
    assert.ok(isVisible, `the quality is visible when scrolled by ${share}`)
  }

  const phone = await world.page({}, { width: 390, height: 844 })
  await phone.goto('/app/runs')
  await phone.locator('[data-column="quality"]').first().waitFor()
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= 390), 'nothing is wider than the screen')
})

test('no page violated the content policy or threw an error', () => world.assertNoProblems())
