// Takes the screenshots of docs/ if SCREENSHOTS=1.
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DESK, QUARTER, SCRIPTED_DESK, startWorld } from './world.mjs'

const enabled = process.env.SCREENSHOTS === '1'
const image = (name) => fileURLToPath(new URL(`../../docs/images/web-${name}.png`, import.meta.url))

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
})
