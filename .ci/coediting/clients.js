// Stock clients, npm's y-websocket and PyPI's pycrdt, edit one page together while the program stops, dies and comes back.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { Program, until } from './program.js'
// The lines of docs/co-editing.md, as `run` has cut them out.
import { connect } from './reconnect.js'

const PYTHON = process.env.PEER_PYTHON
const program = await Program.start()
const { orgs: [{ orgId }] } = await program.call('GET', '/orgs')
const pages = `/orgs/${orgId}/pages`

/** A stock provider with a name among the others. */
class JavaScript {
  static async open (page, name, token = program.token) {
    const client = new JavaScript()
    client.name = name
    client.doc = new Y.Doc()
    client.text = client.doc.getText('markdown')
    const collab = () => program.call('GET', `${page}/collab?ticket=1`, undefined, token)
    client.provider = await connect(client.doc, collab, reason => { client.ended = reason }, { WebSocketPolyfill: WebSocket })
    client.provider.awareness.setLocalStateField('user', { name })
    return client
  }

  append (text) { this.text.insert(this.text.length, text) }
  insert (at, text) { this.text.insert(at, text) }
  /** Cuts the wire, as a network does; it comes back by itself. */
  cut () { this.provider.ws?.terminate() }
  close () { this.doc.destroy() }

  state () {
    const users = [...this.provider.awareness.getStates().values()].map(state => state.user?.name).filter(Boolean).sort()
    return { text: this.text.toString(), users, synced: this.provider.synced, ended: this.ended ?? null }
  }
}

/** A pycrdt client in a process of its own. */
class Python {
  static async open (page, name) {
    const client = new Python()
    client.name = name
    const peer = new URL('./peer.py', import.meta.url).pathname
    const command = [peer, program.base, `/v1${page}/collab`, program.token]
    client.child = spawn(PYTHON, command, { stdio: ['pipe', 'pipe', 'inherit'] })
    client.answers = createInterface(client.child.stdout)[Symbol.asyncIterator]()
    client.queue = Promise.resolve()
    await client.tell({ do: 'user', name })
    return client
  }

  tell (command) {
    this.queue = this.queue.then(async () => {
      this.child.stdin.write(`${JSON.stringify(command)}\n`)
      const { value, done } = await this.answers.next()
      if (done) throw new Error('the peer ended')
      return JSON.parse(value)
    })
    return this.queue
  }

  append (text) { return this.tell({ do: 'append', text }) }
  insert (at, text) { return this.tell({ do: 'insert', at, text }) }
  state () { return this.tell({ do: 'state' }) }
  async close () {
    this.child.stdin.end()
    this.child.kill()
  }
}

const states = clients => Promise.all(clients.map(client => client.state()))

/** Waits until all are connected and have one text, with all of `marks` in it once. */
async function converged (clients, marks) {
  return until(`one text with ${marks.join(' ')}`, async () => {
    const all = await states(clients)
    const [{ text }] = all
    const once = marks.every(mark => text.split(mark).length === 2)
    return once && all.every(state => state.synced && state.text === text) && { text }
  }).catch(async error => { throw new Error(`${error.message}\n${JSON.stringify(await states(clients), null, 1)}`) })
}

const { page: { pageId } } = await program.call('POST', pages, { title: 'Together' })
const page = `${pages}/${pageId}`
await program.putContent(page, '# Together\n')
const clients = [await JavaScript.open(page, 'Ada'), await Python.open(page, 'Grace'), await JavaScript.open(page, 'Edsger')]
const [ada, grace, edsger] = clients
const marks = ['# Together']
let number = 0

/** Everybody writes something at once. */
async function everybodyWrites () {
  await Promise.all(clients.map(client => {
    const mark = `<${client.name} ${++number}>`
    marks.push(mark)
    return client.append(`${mark}\n`)
  }))
}

async function step (what, run) {
  const from = Date.now()
  await run()
  console.log(`ok  ${what} (${Date.now() - from} ms)`)
}

await step('all begin with the page’s Markdown, there once', () => converged(clients, marks))

await step('what they write at once is with all of them', async () => {
  for (let round = 0; round < 5; round++) await everybodyWrites()
  await converged(clients, marks)
})

await step('everybody sees who is there', () => until('all three names everywhere', async () =>
  (await states(clients)).every(state => state.users.join() === 'Ada,Edsger,Grace')))

await step('a connection that is cut comes back with a new ticket, and with what was written meanwhile', async () => {
  for (let round = 0; round < 3; round++) {
    await grace.tell({ do: 'offline' })
    ada.cut()
    await everybodyWrites()
    await grace.tell({ do: 'online' })
    await converged(clients, marks)
  }
})

for (const [signal, what] of [['SIGTERM', 'stops in order'], ['SIGKILL', 'is killed']]) {
  await step(`the program ${what} and comes back: nothing is lost, and what was written meanwhile arrives`, async () => {
    await everybodyWrites()
    await converged(clients, marks)
    await program.stop(signal)
    await everybodyWrites()
    await program.start()
    await converged(clients, marks)
  })
}

await step('the program is killed while everybody writes: nothing that a client holds is lost', async () => {
  const writing = (async () => { for (let round = 0; round < 20; round++) await everybodyWrites() })()
  await program.stop('SIGKILL')
  await program.start()
  await writing
  await converged(clients, marks)
})

await step('who comes fresh has the same text, and names come back', async () => {
  const fresh = await JavaScript.open(page, 'Barbara')
  await converged([...clients, fresh], marks)
  await until('all four names', async () => (await fresh.state()).users.join() === 'Ada,Barbara,Edsger,Grace')
  fresh.close()
  await until('three names again', async () => (await states(clients)).every(state => state.users.length === 3))
})

await step('who may only read hears everything, and changes nothing', async () => {
  const token = await program.signIn('reader@example.org', program.person('reader@example.org', 'Reader'))
  const { user: { userId } } = await program.call('GET', '/me', undefined, token)
  await program.call('POST', `/orgs/${orgId}/members`, { userId, role: 'viewer' })
  const reader = await JavaScript.open(page, 'Reader', token)
  await converged([...clients, reader], marks)
  reader.append('<not allowed>')
  await everybodyWrites()
  const { text } = await converged(clients, marks)
  assert(!text.includes('<not allowed>'))
  await until('the reader hears what others write', async () => (await reader.state()).text.includes(marks.at(-1)))
  reader.close()
})

await step('what they wrote is the page’s content, without anybody saving', async () => {
  const { text } = await ada.state()
  await Promise.all(clients.map(client => client.close()))
  await until('the content', async () => (await program.call('GET', page)).content.markdown === text)
})

await step('a write from outside ends the document, and the next one begins with what was written', async () => {
  const client = await JavaScript.open(page, 'Ada')
  await until('a document', () => client.provider.synced)
  await program.putContent(page, '# Anew\n')
  await until('its end', () => client.ended === 4409)
  client.close()
  const next = await JavaScript.open(page, 'Ada')
  await until('the new text', () => next.text.toString() === '# Anew\n')
  await program.call('PATCH', page, { archived: true })
  await until('its end', () => next.ended === 4404)
  next.close()
})

await program.close()
process.exit(0)
