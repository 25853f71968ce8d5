// Takes the screenshots of docs/ if SCREENSHOTS=1.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DESK, QUARTER, SCRIPTED_DESK, startWorld } from './world.mjs'

const enabled = process.env.SCREENSHOTS === '1'
const file = (name) => fileURLToPath(new URL(`../../docs/images/${name}.png`, import.meta.url))
const image = (name) => file(`web-${name}`)

/** The demo in a terminal of its own data directory: what the program prints, in the colors of a terminal. */
async function terminal(page) {
  const home = await mkdtemp(join(tmpdir(), 'papertape-demo-'))
  try {
    const { stdout } = await promisify(execFile)(process.env.PAPERTAPE, ['--data-dir', home, 'run', '--demo'])
    await page.setContent('<pre style="margin:0;display:inline-block;min-width:80ch;padding:18px 22px;background:#11121a;color:#c8d3f5;font:14px/1.46 \'DejaVu Sans Mono\',monospace"></pre>')
    await page.locator('pre').evaluate((pre, text) => (pre.textContent = text), `$ papertape run --demo\n${stdout.trimEnd()}\n$`)
    await page.locator('pre').screenshot({ path: file('demo') })
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

test('screenshots for the docs', { skip: enabled ? false : 'set SCREENSHOTS=1' }, async (t) => {
  let world
  world = await startWorld()
  after(() => world.close())
  const quarter = await world.run(QUARTER)
  const desk = await world.run(DESK)
  world.models.rejectedRoles.add('Bull Researcher')
  const degraded = await world.run(SCRIPTED_DESK)
  const take = async (name, address, settings = {}, size = { width: 1440, height: 900 }) => {
    const page = await world.page(settings, size)
    await page.goto(address)
    await page.locator('h1').first().waitFor()
    await page.locator('.skeleton').first().waitFor({ state: 'detached' })
    // Results of runs come after the runs.
    await page.waitForFunction(() => ![...document.querySelectorAll('[data-column]')].some((cell) => cell.textContent.includes('…')))
    // The charts are drawn in a later frame.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    await page.screenshot({ path: image(name) })
    await page.context().close()
    t.diagnostic(`docs/images/web-${name}.png`)
  }
  await take('runs', '/app/runs')
  await take('run', `/app/runs/${quarter}`)
  await take('session', `/app/runs/${desk}/2012-10-01/desk:house::momentum?symbol=IBM&view=orders`)
  await take('compare', `/app/compare?select=job:${quarter},baseline:buy_and_hold&against=baseline:buy_and_hold`)
  await take('degraded', `/app/runs/${degraded}/2012-10-01/desk`, { theme: 'dark' })
  await take('chinese', `/app/runs/${quarter}`, { theme: 'dark', language: 'zh' })
  await take('memory', '/app/memory')
  const { job_id: turn, session } = await world.json('POST', '/chat/message', { message: 'create a plan Autumn: backtest the momentum on IBM in October 2012 and compare it with buy and hold; then decompose it and execute it' })
  await world.ended(turn, 'completed')
  await take('chat', `/app/chat?session=${session.id}`)
  const { plans } = await world.json('GET', '/plans')
  await take('plans', `/app/plans?plan=${plans[0].id}`)
  await take('narrow', `/app/runs/${quarter}`, {}, { width: 420, height: 860 })
  const page = await world.page()
  await terminal(page)
  await page.context().close()
  t.diagnostic('docs/images/demo.png')
})
