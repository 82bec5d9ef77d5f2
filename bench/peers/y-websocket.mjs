// The y-websocket server as its own src/server.js starts it, without persistence, but on a free port.
import http from 'node:http'
import WebSocket from 'ws'
import { setupWSConnection } from '@y/websocket-server/utils'
import { attend } from './attend.mjs'

const sockets = new WebSocket.Server({ noServer: true })
const server = http.createServer((_request, response) => response.end('okay'))
sockets.on('connection', setupWSConnection)
server.on('upgrade', (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (socket) => sockets.emit('connection', socket, request))
})
server.listen(0, '127.0.0.1', () => attend(server.address().port))
