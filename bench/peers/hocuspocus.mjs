// Hocuspocus as its own Server starts it, without extensions: documents live in memory only.
import { Server } from '@hocuspocus/server'
import { attend } from './attend.mjs'

const server = new Server({ address: '127.0.0.1', port: 0, quiet: true })
await server.listen()
attend(server.address.port)
