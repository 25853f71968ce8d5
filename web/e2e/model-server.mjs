// A model server that speaks chat completions and says what a test has it say.
import { createServer } from 'node:http'

/** Answers at once with a few words, refuses the roles in `refuses`, and waits while it is held. */
export async function startModelServer() {
  const refuses = new Set()
  let held = false
  let waiting = []
  let asked = 0

  const server = createServer(async (request, response) => {
    // The list of models, which the doctor asks for.
    if (request.method === 'GET') {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ object: 'list', data: [] }))
      return
    }
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    asked += 1
    if (held) await new Promise((resolve) => waiting.push(resolve))
    const text = JSON.stringify(body.messages)
    const role = /Role: ([A-Za-z ]+)/.exec(text)?.[1]?.trim()
    response.setHeader('Content-Type', 'application/json')
    if (role && refuses.has(role)) {
      response.statusCode = 400
      response.end(JSON.stringify({ error: { message: 'refused on purpose' } }))
      return
    }
    response.end(
      JSON.stringify({
        id: `answer-${asked}`,
        object: 'chat.completion',
        model: body.model,
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: words(role) } }],
        usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
      }),
    )
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    refuses,
    /** From now on no answer is given. */
    hold() {
      held = true
    },
    /** Gives the answers that wait, and holds the next ones. */
    pass() {
      const passed = waiting
      waiting = []
      for (const go of passed) go()
      return passed.length
    },
    release() {
      held = false
      this.pass()
    },
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  }
}

function words(role) {
  if (role === 'Trader') return JSON.stringify({ action: 'Hold', reasoning: 'The plan gives no reason to trade.' })
  if (role) return `As ${role}: the price stands near its averages, and nothing speaks for haste.`
  return 'The prices are where they were. I do nothing today. <FINISH_SIGNAL>'
}
