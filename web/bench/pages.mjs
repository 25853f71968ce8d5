// Measures the pages in a real browser over the real program: how soon a view stands, and whether it stalls while it
// is scrolled. A benchmark, not a test: it prints what it measures beside the aim, and fails only where it cannot
// measure.
import { spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { makeRecord, startChatterbox } from './record.mjs'

/** Counted up where the record is made otherwise. */
const FORMAT = 1
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const AIM_VIEW_MS = 1000
const AIM_TASK_MS = 200
const days = Number(process.env.BENCH_DAYS ?? 2500)
const program = process.env.PAPERTAPE
const home = join(process.env.BENCH_HOME, `pages-${days}-${FORMAT}`)
await mkdir(home, { recursive: true })

async function serve() {
  const model = await startChatterbox()
  const config = join(home, 'papertape.toml')
  await writeFile(config, `[models.providers.bench]\nkind = "openai_compatible"\nbase_url = "${model.url}"\nstream = false\n`)
  const server = spawn(program, ['--config', config, '--data-dir', join(home, 'data'), 'serve', '--json', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise((resolve, reject) => {
    let out = ''
    server.stdout.on('data', (text) => {
      out += text
      const found = /"url":\s*"([^"]+)"/.exec(out)
      if (found) resolve(found[1])
    })
    server.on('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  const close = async () => {
    server.removeAllListeners('exit')
    const gone = new Promise((resolve) => server.on('exit', resolve))
    server.kill('SIGTERM')
    await gone
    await model.close()
  }
  return { url, close }
}

const stamp = join(home, 'ids.json')
const server = await serve()
let ids
try {
  ids = JSON.parse(await readFile(stamp, 'utf8'))
} catch {
  const began = performance.now()
  console.log('making the record: a run of ten agents over ten years, and one of 30,000 messages; the next run finds them')
  ids = await makeRecord(server.url, days)
  await writeFile(stamp, JSON.stringify(ids))
  console.log(`made in ${Math.round((performance.now() - began) / 1000)} s\n`)
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
const talk = `/app/runs/${ids.talk}/2012-10-01/chatterbox`
const long = `/app/runs/${ids.long}`
/** Each with the sign that what it is for can be seen, and what of it is scrolled. */
const VIEWS = [
  { name: 'run of 2,500 days x 10 agents', address: long, stands: '.strip .day.gain, .strip .day.loss', drawn: '.chart canvas', scrolls: null },
  { name: 'the same, its figures', address: long, stands: '.grid-table tbody tr:nth-child(10) td.num', scrolls: null },
  { name: 'the same, the days of a year', address: long, before: (page) => page.getByRole('button', { name: '2008', exact: true }).click(), stands: '.strip a.day', scrolls: null },
  { name: 'the same, trades of an agent', address: `${long}?tab=trades`, stands: '.grid-table tbody tr:nth-child(20)', scrolls: null },
  { name: 'the same, its log', address: `${long}?tab=log`, stands: '.job-log-row', scrolls: '.job-log-box' },
  { name: 'runs, both of them', address: '/app/runs', stands: '.runs-row .num .up, .runs-row .num .down', scrolls: null },
  { name: 'session of 30,000 messages', address: `${talk}?view=conversation`, stands: '.transcript .message', scrolls: '.transcript-box' },
  { name: 'the same, its tape', address: `${talk}?view=tape`, stands: '.tape-row', scrolls: '.tape' },
]

/** Notes the first paint with content, every long task, and when something stands. */
const watch = () => {
  window.longTasks = []
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => ({ at: entry.startTime, ms: entry.duration })))).observe({ type: 'longtask', buffered: true })
}

async function measure(view) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, baseURL: server.url, locale: 'en-US' })
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
  const scrolled = await scroll(page, view.scrolls)
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

const [load] = loadavg()
console.log(`${program}: ${ROUNDS} rounds, each view in a browser context of its own; medians with the lowest and highest; ${cpus().length} cores, load ${load.toFixed(1)} before`)
console.log('first paint, when the view stands, and the longest task of the page while it loads and while it is scrolled\n')
console.log(`| view | first paint | stands | aim | | longest task, loading | scrolling | aim | |\n|---|---|---|---|---|---|---|---|---|`)
for (const view of VIEWS) {
  const rounds = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await measure(view))
  const of = (name) => rounds.map((one) => one[name])
  console.log(`| ${view.name} | ${span(of('paint'))} | ${span(of('stands'))} | ${AIM_VIEW_MS} ms | ${verdict(middle(of('stands')), AIM_VIEW_MS)} | ${span(of('loading'))} | ${span(of('scrolling'))} | ${AIM_TASK_MS} ms | ${verdict(middle(of('scrolling')), AIM_TASK_MS)} |`)
}
await browser.close()
await server.close()
