// The real binary with its own data directory, a scripted model server, and a browser.
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import assert from 'node:assert/strict'
import { chromium } from 'playwright-core'
import { startConnection } from './connection.mjs'
import { startModelServer } from './model-server.mjs'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** The timeout of a single expectation. A passing test is far faster. */
const TIMEOUT_MS = Number(process.env.TIMEOUT_MS ?? 30_000)

/** Makes a token of this scope, and the lines that add it to the configuration. */
async function makeToken(binary, scope) {
  const { stdout } = await promisify(execFile)(binary, ['auth', 'token', `the ${scope} token`, '--scope', scope, '--json'])
  const { name, token, hash } = JSON.parse(stdout)
  return { token, config: `\n[[auth.tokens]]\nname = "${name}"\nscope = "${scope}"\nhash = "${hash}"\n` }
}

/** With `hasTokens`, nobody gets in without one of its two tokens. */
export async function startWorld({ hasTokens = false } = {}) {
  const binary = process.env.PAPERTAPE
  assert.ok(binary, 'set PAPERTAPE to the binary')
  const [read, operate] = hasTokens ? await Promise.all([makeToken(binary, 'read'), makeToken(binary, 'operate')]) : []
  const authorization = operate ? { Authorization: `Bearer ${operate.token}` } : {}
  const home = await mkdtemp(join(tmpdir(), 'papertape-pages-'))
  const models = await startModelServer()
  const config = join(home, 'papertape.toml')
  await writeFile(config, `[models.providers.lab]\nkind = "openai_compatible"\nbase_url = "${models.url}"\nstream = false\n
[external_agents.daily]\ncommand = ${JSON.stringify([process.execPath, fileURLToPath(new URL('external-agent.mjs', import.meta.url))])}\n${read?.config ?? ''}${operate?.config ?? ''}`)
  const server = spawn(binary, ['--config', config, '--data-dir', join(home, 'data'), 'serve', '--json', '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  server.stderr.on('data', (text) => (log += text))
  const problems = []
  let isClosing = false
  const exited = new Promise((resolve) => {
    server.on('exit', (code, signal) => {
      if (!isClosing) problems.push(`the server exited with ${code ?? signal}: ${log}`)
      resolve()
    })
  })
  const url = await new Promise((resolve, reject) => {
    let out = ''
    server.stdout.on('data', (text) => {
      out += text
      const found = /"url":\s*"([^"]+)"/.exec(out)
      if (found) resolve(found[1])
    })
    void exited.then(() => reject(new Error(problems.join('\n'))))
  })
  const connection = await startConnection(url)
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })

  async function json(method, path, body) {
    const response = await fetch(url + path, { method, headers: { 'Content-Type': 'application/json', 'Accept-Language': 'en', ...authorization }, body: body && JSON.stringify(body) })
    const answer = await response.json()
    assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }

  return {
    url,
    connection,
    models,
    /** The tokens by scope. Requests of the tests use the one that may operate. */
    tokens: { read: read?.token, operate: operate?.token },
    /** A page with the given settings, connected through the proxy. Collects errors. */
    async page(settings = {}, size = { width: 1440, height: 900 }) {
      const context = await browser.newContext({ viewport: size, reducedMotion: 'reduce', baseURL: connection.url, locale: 'en-US' })
      context.setDefaultTimeout(TIMEOUT_MS)
      await context.addInitScript((stored) => {
        // Not in the initial empty page.
        if (location.protocol === 'http:' && !localStorage.getItem('papertape.settings')) localStorage.setItem('papertape.settings', JSON.stringify(stored))
      }, { language: 'en', theme: 'light', ...settings })
      const page = await context.newPage()
      page.on('pageerror', (error) => problems.push(`${page.url()}: ${error.message}`))
      page.on('console', (message) => {
        if (message.type() !== 'error') return
        // The page itself reports a 404, a broken connection, and a view that it could not load then; the browser logs them too.
        const isReported = message.text().startsWith('Failed to load resource') || (connection.isCut() && message.text().startsWith('ViewUnavailable'))
        if (!isReported) problems.push(`${page.url()}: ${message.text()}`)
      })
      return page
    },
    json,
    /** Runs a simulation to its end. */
    async run(body, status = 'completed') {
      const { job_id: id } = await json('POST', '/simulate/trigger', body)
      await this.ended(id, status)
      return id
    },
    async ended(id, status) {
      // The stream ends with the job.
      const stream = await fetch(`${url}/jobs/${id}/stream`, { headers: authorization })
      await stream.text()
      const { job } = await json('GET', `/jobs/${id}`)
      assert.equal(job.status, status, job.error ?? '')
    },
    /** The accessibility violations of a page, of all rules or of these. */
    async violations(page, what, rules) {
      if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe)
      // Everything that axe has checked is a megabyte: only what it complains about leaves the page.
      const runOnly = rules ? { type: 'rule', values: rules } : ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']
      const violations = await page.evaluate(async (runOnly) => {
        const found = await window.axe.run(document, { runOnly, resultTypes: ['violations'] })
        return found.violations.map((one) => `${one.id}: ${one.help}\n    ${one.nodes.slice(0, 4).map((node) => `${node.target} ${node.failureSummary?.split('\n')[1] ?? ''}`).join('\n    ')}`)
      }, runOnly)
      return violations.map((one) => `${what}: ${one}`)
    },
    /** Fails if the server has exited, or any page had an error, including content policy violations. */
    assertNoProblems() {
      assert.deepEqual(problems, [])
    },
    async close() {
      await browser.close()
      await connection.close()
      isClosing = true
      models.release()
      server.kill('SIGTERM')
      await exited
      await models.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** A quarter of the bundled data in which positions open and close. */
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
