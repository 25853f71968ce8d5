// The line between browser and server, which a test can cut.
import { createServer, request as ask } from 'node:http'

export async function startLine(target) {
  const { hostname, port } = new URL(target)
  const sockets = new Set()
  let cut = false
  const server = createServer((request, response) => {
    const passed = ask({ hostname, port, path: request.url, method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.pipe(response)
    })
    passed.on('error', () => response.destroy())
    response.on('close', () => passed.destroy())
    request.pipe(passed)
  })
  server.on('connection', (socket) => {
    if (cut) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Breaks every connection, and lets no new one through. */
    cut() {
      cut = true
      for (const socket of sockets) socket.destroy()
    },
    mend() {
      cut = false
    },
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  }
}
