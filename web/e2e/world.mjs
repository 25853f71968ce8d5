// The real program with a record of its own, a scripted model server, and a browser.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import assert from 'node:assert/strict'
import { chromium } from 'playwright-core'
import { startLine } from './line.mjs'
import { startModelServer } from './model-server.mjs'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** How long the page may take to show what it is waited for; a test that passes never comes near it. */
const PATIENCE = Number(process.env.PATIENCE_MS ?? 30_000)

export async function startWorld() {
  const home = await mkdtemp(join(tmpdir(), 'papertape-pages-'))
  const models = await startModelServer()
  const config = join(home, 'papertape.toml')
  await writeFile(config, `[models.providers.lab]\nkind = "openai_compatible"\nbase_url = "${models.url}"\nstream = false\n`)
  const program = process.env.PAPERTAPE
  assert.ok(program, 'PAPERTAPE names the program')
  const server = spawn(program, ['--config', config, '--data-dir', join(home, 'data'), 'serve', '--json', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  server.stderr.on('data', (text) => (log += text))
  const url = await new Promise((resolve, reject) => {
    let out = ''
    server.stdout.on('data', (text) => {
      out += text
      const found = /"url":\s*"([^"]+)"/.exec(out)
      if (found) resolve(found[1])
    })
    server.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${log}`)))
  })
  const line = await startLine(url)
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
  const troubles = []

  async function json(method, path, body) {
    const response = await fetch(url + path, { method, headers: { 'Content-Type': 'application/json', 'Accept-Language': 'en' }, body: body && JSON.stringify(body) })
    const answer = await response.json()
    assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }

  return {
    url,
    line,
    models,
    /** A page with the settings given, at the line's address. What goes wrong in it is noted. */
    async page(settings = {}, size = { width: 1440, height: 900 }) {
      const context = await browser.newContext({ viewport: size, reducedMotion: 'reduce', baseURL: line.url, locale: 'en-GB' })
      context.setDefaultTimeout(PATIENCE)
      await context.addInitScript((kept) => {
        // Not in the empty page that comes first.
        if (location.protocol === 'http:' && !localStorage.getItem('papertape.settings')) localStorage.setItem('papertape.settings', JSON.stringify(kept))
      }, { language: 'en', theme: 'light', ...settings })
      const page = await context.newPage()
      page.on('pageerror', (error) => troubles.push(`${page.url()}: ${error.message}`))
      page.on('console', (message) => {
        // A miss, or a line that was cut, is told on the page; the browser tells it here as well.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) troubles.push(`${page.url()}: ${message.text()}`)
      })
      return page
    },
    json,
    /** Starts a run and waits for its end. */
    async run(body, status = 'completed') {
      const { job_id: id } = await json('POST', '/simulate/trigger', body)
      await this.ended(id, status)
      return id
    },
    async ended(id, status) {
      // The stream ends when the job does: nothing has to be waited for otherwise.
      const stream = await fetch(`${url}/jobs/${id}/stream`)
      await stream.text()
      const { job } = await json('GET', `/jobs/${id}`)
      assert.equal(job.status, status, job.error ?? '')
    },
    /** Holds what is shown against the rules for accessible pages. */
    async violations(page, what) {
      await page.evaluate(axe)
      const found = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }))
      const told = found.violations.map((one) => `${one.id}: ${one.help}\n    ${one.nodes.slice(0, 4).map((node) => `${node.target} ${node.failureSummary?.split('\n')[1] ?? ''}`).join('\n    ')}`)
      return told.map((one) => `${what}: ${one}`)
    },
    /** Whatever went wrong in any page: a refused style or script among it. */
    untroubled() {
      assert.deepEqual(troubles, [])
    },
    async close() {
      await browser.close()
      await line.close()
      server.removeAllListeners('exit')
      const gone = new Promise((resolve) => server.on('exit', resolve))
      models.release()
      server.kill('SIGTERM')
      await gone
      await models.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** A quarter of the bundled data on which positions open and close. */
export const QUARTER = {
  start_date: '2012-10-01',
  end_date: '2012-12-31',
  symbols: ['AAPL', 'GOOG', 'IBM', 'MSFT'],
  models: ['house::momentum', 'house::contrarian', 'house::buy_and_hold'],
  initial_cash: 100000,
}

/** Two weeks of a desk. */
export const DESK = {
  start_date: '2012-10-01',
  end_date: '2012-10-12',
  symbols: ['AAPL', 'IBM'],
  initial_cash: 100000,
  agents: [{ name: 'desk:house::momentum', kind: 'desk', model: 'house::momentum' }],
}

/** A day of a desk whose quick model is the scripted one. */
export const SCRIPTED_DESK = {
  start_date: '2012-10-01',
  end_date: '2012-10-02',
  symbols: ['AAPL', 'IBM'],
  initial_cash: 100000,
  agents: [{ name: 'desk', kind: 'desk', model: 'house::momentum', limits: { max_attempts: 1 }, desk: { quick_think_llm: 'lab::scripted' } }],
}
