// The record that the pages are measured on, made by the program itself: a run of ten years with ten agents, and
// one whose only conversation has thirty thousand messages.
import { createServer } from 'node:http'
import assert from 'node:assert/strict'

/** Tool calls of one response (64 is the limit), and responses: 60 x 500 tool messages, the responses and the task. */
const CALLS = 60
const ANSWERS = 500

/** A model that looks at prices until it has looked often enough. */
export async function startChatterbox() {
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    const turn = body.messages.filter((message) => message.role === 'assistant').length
    const call = (n) => ({ id: `call-${turn}-${n}`, type: 'function', function: { name: 'get_price', arguments: JSON.stringify({ symbol: ['IBM', 'AAPL', 'MSFT'][n % 3] }) } })
    const message =
      turn < ANSWERS
        ? { role: 'assistant', content: `Look ${turn + 1}: the prices once more, for every symbol, before anything is decided.`, tool_calls: Array.from({ length: CALLS }, (_, n) => call(n)) }
        : { role: 'assistant', content: 'I have looked often enough, and do nothing today. <FINISH_SIGNAL>' }
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ id: `answer-${turn}`, object: 'chat.completion', model: body.model, choices: [{ index: 0, finish_reason: turn < ANSWERS ? 'tool_calls' : 'stop', message }], usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))) }
}

const AGENTS = ['momentum', 'contrarian', 'buy_and_hold'].flatMap((model, kind) =>
  Array.from({ length: kind === 0 ? 4 : 3 }, (_, n) => ({ name: `${model}-${n + 1}`, kind: 'solo', model: `house::${model}` })),
)

/** The bundled data from the first day of 2003: 2,500 trading days end on 2012-12-05. */
export function longRun(days) {
  const end = days >= 2500 ? '2012-12-05' : '2003-03-31'
  return { start_date: '2003-01-02', end_date: end, symbols: ['AAPL', 'IBM', 'MSFT'], agents: AGENTS, initial_cash: 100000, memory: 'off', summaries: false, replace_existing: true }
}

export const MANY_MESSAGES = {
  start_date: '2012-10-01',
  end_date: '2012-10-01',
  symbols: ['AAPL', 'IBM', 'MSFT'],
  agents: [{ name: 'chatterbox', kind: 'solo', model: 'bench::chatterbox', limits: { max_steps: 510, call_timeout_secs: 600, session_timeout_secs: 7200 } }],
  initial_cash: 100000,
  memory: 'off',
  summaries: false,
  replace_existing: true,
}

/** Runs both, and tells their ids. */
export async function makeRecord(url, days) {
  const json = async (method, path, body) => {
    const response = await fetch(url + path, { method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) })
    const answer = await response.json()
    assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const ids = []
  for (const run of [longRun(days), MANY_MESSAGES]) ids.push((await json('POST', '/simulate/trigger', run)).job_id)
  for (const id of ids) {
    const stream = await fetch(`${url}/jobs/${id}/stream`)
    for await (const chunk of stream.body) void chunk
    const { job } = await json('GET', `/jobs/${id}`)
    assert.equal(job.status, 'completed', job.error ?? '')
  }
  return { long: ids[0], talk: ids[1] }
}

const SYMBOLS = ['AAPL', 'IBM', 'MSFT', 'GOOG']
const MODELS = ['house::momentum', 'house::contrarian', 'house::buy_and_hold']

/** Short runs of one to three agents, every tenth with a name and tags. */
export async function makeRuns(url, count) {
  const send = async (method, path, body) => {
    const response = await fetch(url + path, { method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) })
    const answer = await response.json()
    assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  let next = 0
  const work = async () => {
    for (let n = next++; n < count; n = next++) {
      const start = new Date(Date.UTC(2012, n % 10, 2 + (n % 3) * 7)).toISOString().slice(0, 10)
      const { job_id: id } = await send('POST', '/simulate/trigger', { start_date: start, end_date: addDays(start, 3), symbols: [SYMBOLS[n % 4]], models: MODELS.slice(0, 1 + (n % 5 === 0 ? n % 3 : 0)), initial_cash: 10_000 + n, memory: 'off', summaries: false, replace_existing: true })
      if (n % 10 === 0) await send('PATCH', `/jobs/${id}/labels`, { name: `Trial ${n}`, tags: [`batch-${n % 7}`] })
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  for (const status of ['queued', 'running']) {
    while ((await send('GET', `/jobs?status=${status}&limit=1`)).jobs.length > 0) await new Promise((resolve) => setTimeout(resolve, 1000))
  }
  return { count }
}

function addDays(date, days) {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)
}
