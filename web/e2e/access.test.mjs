// Access control in a real browser, served by the real program: logging in, reading, and operating.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DESK, startWorld } from './world.mjs'

/** Two weeks of the scripted model. */
const SCRIPTED = { start_date: '2012-11-01', end_date: '2012-11-14', symbols: ['IBM'], models: ['lab::scripted'], initial_cash: 10000 }
/** Enough tokens for the first responses only. */
const SMALL_BUDGET = { job: { tokens: 2700 } }

/** The names of the controls that write, on any page. */
const WRITES = /^(New (run|plan|conversation)|Start (run|experiment|branch)|Stop$|Resume\b|Branch\b|Delete|Cancel all|Edit|Save|Create plan|Add (sub)?task|Move “|Run “|Rerun “|Decompose|Execute|Confirm|Decline|Ask the assistant|Send|Backtest )/

let world
/** Every page: its address, what it shows to everyone, and the controls that it has for operators only. */
let views
let desk
before(async () => {
  world = await startWorld({ hasTokens: true })
  desk = await world.run(DESK)
  await world.json('PATCH', `/jobs/${desk}/labels`, { name: 'Autumn desk', tags: ['paper'], note: 'Compare with the other one' })
  const { sessions } = await world.json('GET', `/reasoning?job_id=${desk}&limit=1`)
  await world.json('PATCH', `/sessions/${sessions[0].session_id}/review`, { score: 4, note: 'A careful day' })

  const goal = 'backtest the momentum on IBM in October 2012 and compare it with buy and hold'
  const { job_id: turn, session: chat } = await world.json('POST', '/chat/message', { message: `create a plan Autumn: ${goal}; then decompose it` })
  await world.ended(turn, 'completed')
  const { plans: [plan] } = await world.json('GET', '/plans')
  const { tasks: [task] } = await world.json('GET', `/plans/${plan.id}/tasks`)
  // The assistant waits for a confirmation.
  const { job_id: request } = await world.json('POST', '/chat/message', { message: `delete plan ${plan.id}`, session_id: chat.id })
  await world.ended(request, 'completed')

  const stopped = await world.json('POST', '/experiments', { simulation: { ...SCRIPTED, budget: SMALL_BUDGET } })
  await world.ended(stopped.jobs[0], 'partial')
  world.models.hold()
  const running = await world.json('POST', '/experiments', { simulation: { ...SCRIPTED, symbols: ['AAPL'] } })

  const text = (words) => (page) => page.getByText(words).first()
  const title = (name) => (page) => page.getByRole('heading', { name, exact: true }).first()
  const tab = (page) => page.getByRole('tab', { selected: true })
  const edit = ['button', /^Edit labels/]
  const branch = ['button', 'Branch']
  const review = [['radio', '4'], ['textbox', 'Note'], ['button', 'Save']]
  const input = ['textbox', 'Ask the assistant']
  const [run, day] = [`/app/runs/${desk}`, `/app/runs/${desk}/${sessions[0].date}/${sessions[0].model}`]
  views = [
    ['/app/runs', text('Autumn desk'), [['button', /^New run/], ['button', 'Edit labels of Autumn desk']]],
    ['/app/runs?new=true', text('Autumn desk'), [['button', 'Start run']]],
    [run, (page) => page.getByRole('table', { name: 'Metrics' }), [edit, branch, ['button', 'Delete']]],
    [`${run}?branch=true`, tab, [['button', 'Start branch']]],
    [`/app/runs/${running.jobs[0]}`, text('Live'), [edit, branch, ['button', 'Stop']]],
    [`/app/runs/${stopped.jobs[0]}`, text(/budget exhausted/), [edit, branch, ['button', 'Resume']]],
    [day, (page) => page.getByRole('article', { name: 'Decision' }), review],
    [`/app/runs/${running.jobs[0]}/${SCRIPTED.start_date}/lab::scripted`, tab, [['radio', '4'], ['button', 'Save']]],
    [`/app/compare?select=job:${desk},baseline:buy_and_hold`, (page) => page.locator('[data-verdict]').first(), []],
    ['/app/experiments', (page) => page.getByRole('link', { name: stopped.experiment_id.slice(-8) }), []],
    [`/app/experiments/${running.experiment_id}`, (page) => page.getByRole('region', { name: 'Jobs' }).first(), [['button', 'Cancel all jobs']]],
    [`/app/experiments/${stopped.experiment_id}`, (page) => page.getByRole('region', { name: 'Jobs' }).first(), [['button', 'Resume']]],
    ['/app/leaderboard', (page) => page.getByRole('table', { name: 'Leaderboard' }), []],
    ['/app/memory', tab, []],
    ['/app/data?symbol=IBM', tab, []],
    [`/app/profiles?a=${desk}`, title('Profiles'), []],
    ['/app/chat', text(/^create a plan Autumn/i), [input, ['link', 'New conversation'], ['button', /^Backtest /]]],
    [`/app/chat?session=${chat.id}`, text('Action log'), [input, ['link', 'New conversation'], ['button', 'Confirm'], ['button', 'Decline']]],
    ['/app/plans', text('Autumn'), [['button', 'New plan']]],
    [
      `/app/plans?plan=${plan.id}`,
      (page) => page.locator('[data-task]').first(),
      [...['Edit', 'Delete', 'Decompose', 'Execute', 'Add task', `Edit “${task.name}”`, `Run “${task.name}”`, `Delete “${task.name}”`].map((name) => ['button', name])],
    ],
    ['/app/settings', title('Settings'), []],
  ]
})
after(() => world.close())

/** Submits the form of the login page. */
async function submitToken(page, token) {
  await page.getByLabel('Access token').fill(token)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** A page of someone who has logged in with the token of this scope. */
async function pageOf(scope, size) {
  const page = await world.page({}, size)
  await page.goto('/app/settings')
  await submitToken(page, world.tokens[scope])
  await page.waitForURL('**/app/settings')
  return page
}

/** Opens a view, and waits until it is there and the page knows its user. */
async function open(page, view, shows) {
  await page.goto(view)
  await knowsUser(page)
  await shows(page).waitFor()
  await settle(page)
}

const knowsUser = (page) => page.waitForFunction(() => performance.getEntriesByType('resource').some((entry) => new URL(entry.name).pathname === '/access' && entry.responseEnd > 0))

/** Waits until everything is loaded and drawn. */
async function settle(page) {
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
}

/** The enabled controls that write, and every form and input that is not a search or a filter. */
async function writingControls(page) {
  const lines = (await page.locator('body').ariaSnapshot()).split('\n')
  const named = lines.flatMap((line, index) => {
    const [, role, name, state] = /^\s*- '?(button|link|textbox|checkbox|radio|combobox|spinbutton|option|menuitem) "((?:[^"\\]|\\.)*)"(.*)/.exec(line) ?? []
    // The head of a column sorts, whatever its name is.
    const isHead = /^\s*- '?columnheader /.test(lines[index - 1])
    return role && !isHead && WRITES.test(name) && !state.includes('[disabled]') ? [`${role} ${name}`] : []
  })
  const forms = await page.locator('form:not([role="search"], [action="/logout"]), textarea, input[type="radio"]').count()
  return [...named, ...(forms > 0 ? [`${forms} forms or inputs`] : [])]
}

/** Colors as the browser draws them: of the login page's parts, or of the app's tokens. */
const loginColors = (page) =>
  page.evaluate(() => {
    const [root, main, button] = [':root', 'main', 'button'].map((selector) => getComputedStyle(document.querySelector(selector)))
    return [root.backgroundColor, root.color, main.backgroundColor, main.borderTopColor, button.backgroundColor, button.color]
  })
const appColors = (page) =>
  page.evaluate(() => {
    const probe = document.body.appendChild(document.createElement('i'))
    return ['--bg-side', '--text', '--bg', '--line', '--accent', '--on-accent'].map((token) => {
      probe.style.color = `var(${token})`
      return getComputedStyle(probe).color
    })
  })

test('the login page is accessible, has the app’s colors, rejects a wrong token, and leads back', async () => {
  const violations = []
  for (const size of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
    const page = await world.page({ theme: 'auto' }, size)
    const colors = []
    const requested = `/app/runs/${desk}?tab=trades`
    await page.goto(requested)
    await page.waitForURL('**/login?next=*')
    await page.getByRole('heading', { name: 'Log in to Papertape' }).waitFor()
    assert.equal(await page.evaluate(() => document.activeElement?.id), 'token')
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      colors.push(await loginColors(page))
      violations.push(...(await world.violations(page, `/login (${size.width}, ${colorScheme})`)))
    }
    assert.notDeepEqual(colors[0], colors[1])
    if (size.width > 390) {
      await submitToken(page, 'ptk_wrong')
      await page.getByRole('alert').getByText('Unknown token.').waitFor()
      violations.push(...(await world.violations(page, '/login after a wrong token')))
    }
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `it overflows ${size.width}`)
    // The other language asks for the same page.
    await page.getByRole('link', { name: '中文' }).click()
    await page.locator('html[lang="zh"]').waitFor()
    await page.getByRole('link', { name: 'English' }).click()
    await page.locator('html[lang="en"]').waitFor()
    // For a second after a wrong token, the right one is throttled.
    const heading = page.getByRole('heading', { name: /^Autumn desk/ })
    do {
      await submitToken(page, world.tokens.read)
      await heading.or(page.getByRole('alert').getByText(/^Too many failed logins/)).waitFor()
    } while (!(await heading.isVisible()))
    const { pathname, search } = new URL(page.url())
    assert.equal(pathname + search, requested)
    await page.getByRole('tab', { name: 'Trades', selected: true }).waitFor()
    const dark = await appColors(page)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.locator('html[data-theme="light"]').waitFor()
    assert.deepEqual(colors, [await appColors(page), dark])
    await page.context().close()
  }
  assert.equal(violations.join('\n'), '')
})

test('with the token that may operate, the pages have the controls that write', async () => {
  const page = await pageOf('operate')
  for (const [view, shows, controls] of views.filter(([, , controls]) => controls.length > 0)) {
    await open(page, view, shows)
    for (const [role, name] of controls) {
      const control = page.getByRole(role, { name, exact: true }).first()
      await control.waitFor().catch(() => assert.fail(`${view} has no ${role} ${name}`))
    }
    // What the next test does not find has to be what is here.
    const found = await writingControls(page)
    const isFound = ([role, name]) => found.some((one) => (typeof name === 'string' ? one === `${role} ${name}` : name.test(one.slice(role.length + 1))))
    assert.deepEqual(controls.filter((one) => !['radio', 'textbox'].includes(one[0]) && !isFound(one)), [], view)
    if (controls.some(([role]) => role === 'radio' || role === 'textbox')) assert.match(found.at(-1), /forms or inputs$/)
  }
  await page.goto('/app/runs')
  await page.locator('[data-run] [data-column="run"] a').first().waitFor()
  await page.keyboard.press('Control+k')
  for (const [words, entry] of [['new run', 'New run'], ['resume', /^Resume /], ['branch', /^Branch /]]) {
    await page.getByRole('combobox', { name: 'Command palette' }).fill(words)
    await page.getByRole('option', { name: entry }).first().waitFor()
  }
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  await page.getByRole('button', { name: 'Start run' }).waitFor()
  await page.context().close()
})

test('with the read token, no page has a control that writes, and no request is rejected', async () => {
  const page = await pageOf('read')
  const rejected = []
  page.on('response', (response) => [401, 403].includes(response.status()) && rejected.push(`${response.request().method()} ${response.url()}`))
  page.on('request', (request) => request.method() !== 'GET' && rejected.push(`${request.method()} ${request.url()}`))
  const found = []
  const opened = new Set()
  for (const [view, shows] of views) {
    await open(page, view, shows)
    for (const control of await writingControls(page)) found.push(`${view}: ${control}`)
    // The tabs of each kind of page.
    const tabs = page.getByRole('tab')
    const names = (await tabs.allInnerTexts()).map((text) => text.replace(/\d+/g, '').trim())
    const kind = names.join()
    if (names.length === 0 || opened.has(kind)) continue
    opened.add(kind)
    for (const [index, name] of names.entries()) {
      await tabs.nth(index).click()
      await settle(page)
      for (const control of await writingControls(page)) found.push(`${view} ${name}: ${control}`)
    }
  }
  assert.equal(opened.size, 4, 'runs, sessions, memory and data have tabs')
  assert.deepEqual(found, [])
  await page.goto('/app/settings')
  await page.getByText('Logged in as the read token with read-only access.').waitFor()
  await page.goto('/app/chat')
  await page.getByText('Read-only access: you cannot send messages.').waitFor()

  await page.goto('/app/runs')
  await page.locator('[data-run] [data-column="run"] a').first().waitFor()
  await page.keyboard.press('n')
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('combobox', { name: 'Command palette' })
  for (const words of ['', 'new run', 'resume', 'branch', 'compare']) {
    await palette.fill(words)
    await settle(page)
    assert.deepEqual(await writingControls(page), [], `the palette finds “${words}”`)
  }
  await page.getByRole('option', { name: /^Compare .* with buy-and-hold/ }).first().waitFor()
  assert.equal(new URL(page.url()).search, '', 'the key opens no form')
  assert.deepEqual(rejected, [])
  await page.context().close()
})

test('nothing that writes appears before the page knows its user', async () => {
  const page = await pageOf('read')
  const sent = []
  page.on('request', (request) => request.method() !== 'GET' && sent.push(`${request.method()} ${request.url()}`))
  let answer
  const held = new Promise((resolve) => (answer = resolve))
  await page.route('**/access', async (route) => {
    await held
    await route.continue()
  })
  await page.goto('/app/runs?new=true')
  await page.locator('[data-run] [data-column="run"] a').first().waitFor()
  const found = await writingControls(page)
  answer()
  await knowsUser(page)
  await settle(page)
  assert.deepEqual([found, await writingControls(page), sent], [[], [], []])
  await page.context().close()
})

test('no page violated the content policy or threw an error', () => world.assertNoProblems())
