// An external agent over stdio: on each day it reads a price, buys a share and says why.
import { createInterface } from 'node:readline'

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const next = async () => {
  const { value, done } = await lines.next()
  if (done) process.exit(0)
  return JSON.parse(value)
}
let count = 0
/** The reply to a message. Without one, the session has ended. */
const request = async (message) => {
  process.stdout.write(`${JSON.stringify({ ...message, id: (count += 1) })}\n`)
  return await next()
}

for (;;) {
  const day = await next()
  if (day.type !== 'day') continue
  await request({ type: 'read', tool: 'get_price', arguments: { symbol: day.symbols[0] } })
  await request({ type: 'order', side: 'buy', symbol: day.symbols[0], quantity: 1, reason: 'one share a day' })
  await request({ type: 'done', decision: 'The trend is **intact**: one more share.' })
}
