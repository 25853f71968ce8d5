// What the benchmarks of the pages share: the program, a page that is measured, and how figures are printed.
import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { startChatterbox } from './record.mjs'

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
export const AIM_VIEW_MS = 1000
const AIM_TASK_MS = 200
const program = process.env.PAPERTAPE

/** The program on a data directory of its own, and what `make` has put there at the first run. */
export async function serve(name, note, make) {
  const home = join(process.env.BENCH_HOME, name)
  await mkdir(home, { recursive: true })
  const model = await startChatterbox()
  const config = join(home, 'papertape.toml')
  await writeFile(config, `[models.providers.bench]\nkind = "openai_compatible"\nbase_url = "${model.url}"\nstream = false\n`)
  const server = spawn(program, ['--config', config, '--data-dir', join(home, 'data'), 'serve', '--json', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await new Promise((resolve, reject) => {
    let out = ''
    server.stdout.on('data', (text) => {
      out += text
      const found = /"url":\s*"([^"]+)"/.exec(out)
      if (found) resolve(found[1])
    })
    server.on('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  const stamp = join(home, 'ids.json')
  let ids
  try {
    ids = JSON.parse(await readFile(stamp, 'utf8'))
  } catch {
    const began = performance.now()
    console.log(note)
    ids = await make(url)
    await writeFile(stamp, JSON.stringify(ids))
    console.log(`made in ${Math.round((performance.now() - began) / 1000)} s\n`)
  }
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
  const close = async () => {
    await browser.close()
    server.removeAllListeners('exit')
    const gone = new Promise((resolve) => server.on('exit', resolve))
    server.kill('SIGTERM')
    await gone
    await model.close()
  }
  return { url, ids, browser, close }
}

/** Notes the first paint with content, every long task, and when something stands. */
const watch = () => {
  window.longTasks = []
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => ({ at: entry.startTime, ms: entry.duration })))).observe({ type: 'longtask', buffered: true })
}

/** Opens a view in a browser context of its own, and scrolls it. */
async function measure({ url, browser }, view) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, baseURL: url, locale: 'en-US' })
  const page = await context.newPage()
  await page.addInitScript(watch)
  await page.goto(view.address, { waitUntil: 'commit' })
  let began = 0
  if (view.before) {
    await view.before(page)
    began = await page.evaluate(() => performance.now())
  }
  await page.waitForFunction(([stands, drawn]) => document.querySelector(stands) !== null && (!drawn || document.querySelector(drawn) !== null), [view.stands, view.drawn ?? ''], { timeout: 120_000, polling: 'raf' })
  const found = await page.evaluate((began) => ({ stands: performance.now() - began, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0, tasks: window.longTasks }), began)
  const scrolled = await (view.scroll ?? scroll)(page, view.scrolls)
  await context.close()
  return { stands: found.stands, paint: found.paint, loading: worst(found.tasks), scrolling: worst(scrolled) }
}

/** From the top to the end in leaps, and by small steps in between: what a hand does, and worse. */
async function scroll(page, selector) {
  return page.evaluate(async (selector) => {
    window.longTasks.length = 0
    const box = selector ? document.querySelector(selector) : document.scrollingElement
    const frame = () => new Promise(requestAnimationFrame)
    for (let leap = 0; leap <= 20; leap += 1) {
      box.scrollTop = (leap / 20) * (box.scrollHeight - box.clientHeight)
      await frame()
      for (let step = 0; step < 12; step += 1) {
        box.scrollTop += leap % 2 === 0 ? 90 : -90
        await frame()
      }
    }
    await frame()
    await frame()
    return window.longTasks
  }, selector)
}

const worst = (tasks) => tasks.reduce((most, { ms }) => Math.max(most, ms), 0)
const middle = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]
const span = (values) => `${Math.round(middle(values))} ms (${Math.round(Math.min(...values))} - ${Math.round(Math.max(...values))})`
const verdict = (value, aim) => (value <= aim ? 'reached' : 'missed')

/** Measures all views and prints a table. */
export async function report(world, views) {
  const [load] = loadavg()
  console.log(`${program}: ${ROUNDS} rounds, each view in a browser context of its own; medians with the lowest and highest; ${cpus().length} cores, load ${load.toFixed(1)} before`)
  console.log('first paint, when the view is visible, and the longest task of the page while it loads and while it is scrolled\n')
  console.log(`| view | first paint | visible | target | | longest task, loading | scrolling | target | |\n|---|---|---|---|---|---|---|---|---|`)
  for (const view of views) {
    const rounds = []
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(world, view))
    const of = (name) => rounds.map((one) => one[name])
    console.log(`| ${view.name} | ${span(of('paint'))} | ${span(of('stands'))} | ${AIM_VIEW_MS} ms | ${verdict(middle(of('stands')), AIM_VIEW_MS)} | ${span(of('loading'))} | ${span(of('scrolling'))} | ${AIM_TASK_MS} ms | ${verdict(middle(of('scrolling')), AIM_TASK_MS)} |`)
  }
}
