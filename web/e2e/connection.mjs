// A proxy between browser and server that a test can disconnect.
import { createServer, request as forward } from 'node:http'

export async function startConnection(target) {
  const { hostname, port } = new URL(target)
  const sockets = new Set()
  let isCut = false
  const server = createServer((request, response) => {
    const proxied = forward({ hostname, port, path: request.url, method: request.method, headers: request.headers }, (upstream) => {
      response.writeHead(upstream.statusCode ?? 502, upstream.headers)
      response.flushHeaders()
      upstream.pipe(response)
    })
    proxied.on('error', () => response.destroy())
    response.on('close', () => proxied.destroy())
    request.pipe(proxied)
  })
  server.on('connection', (socket) => {
    if (isCut) {
      socket.destroy()
      return
    }
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Breaks all connections and rejects new ones. */
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    restore() {
      isCut = false
    },
    isCut: () => isCut,
    close: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  }
}
