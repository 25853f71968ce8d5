// A model server with the chat completions protocol, controlled by the tests.
import { createServer } from 'node:http'

/** Responds at once with a short text, rejects the roles in `rejectedRoles`, and waits while on hold. */
export async function startModelServer() {
  const rejectedRoles = new Set()
  let onHold = false
  let pending = []
  let requests = 0

  const server = createServer(async (request, response) => {
    // The list of models, which the doctor requests.
    if (request.method === 'GET') {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ object: 'list', data: [] }))
      return
    }
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    requests += 1
    if (onHold) await new Promise((resolve) => pending.push(resolve))
    const text = JSON.stringify(body.messages)
    const role = /Role: ([A-Za-z ]+)/.exec(text)?.[1]?.trim()
    response.setHeader('Content-Type', 'application/json')
    if (role && rejectedRoles.has(role)) {
      response.statusCode = 400
      response.end(JSON.stringify({ error: { message: 'rejected by the test' } }))
      return
    }
    response.end(
      JSON.stringify({
        id: `answer-${requests}`,
        object: 'chat.completion',
        model: body.model,
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: replyOf(role) } }],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      }),
    )
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    rejectedRoles,
    /** From now on, responses wait. */
    hold() {
      onHold = true
    },
    /** Sends the pending responses. The next ones wait again. */
    pass() {
      const released = pending
      pending = []
      for (const send of released) send()
      return released.length
    },
    release() {
      onHold = false
      this.pass()
    },
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  }
}

function replyOf(role) {
  if (role === 'Trader') return JSON.stringify({ action: 'Hold', reasoning: 'The plan gives no reason to trade.' })
  if (role) return `As ${role}: the price is near its averages, and there is no reason to hurry.`
  return 'The prices are unchanged. No trades today. <FINISH_SIGNAL>'
}
