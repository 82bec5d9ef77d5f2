// Brings attacks as mail, and looks in a browser at what the program shows of them.

import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { Program, freePort, until } from './program.js'

const here = dirname(fileURLToPath(import.meta.url))
// Tabs that look at once, and attacks that are looked at as they came.
const WINDOWS = 4
const CONTROLS = 50
const ORIGIN = 'http://shown.example/'
// What changes how that is read which stands in it.
const AROUND = [
  ['<svg>', '</svg>'], ['<math><mtext>', ''], ['<math><annotation-xml encoding="text/html">', ''], ['<svg><style><!--', ''],
  ['<table><td>', ''], ['<select>', '</select>'], ['<noscript>', '</noscript>'], ['<style>', '</style>'], ['<template>', '</template>'],
  ['<textarea>', '</textarea>'], ['<title>', '</title>'], ['<a title="', '">'], ['<form><math><mtext></form><form><mglyph><style>', '']
]
// What must not be in what is shown.
const FORBIDDEN = 'script, iframe, frame, frameset, object, embed, form, input, button, style, link, meta, base, svg, math, template, [style]'

/** The texts between quotes in the tests of a Rust source. */
function texts (source) {
  const tests = source.slice(source.indexOf('mod test'))
  const escapes = { n: '\n', r: '\r', t: '\t', 0: '\0', '\\': '\\', '"': '"', "'": "'" }
  const plain = text => text.replace(/\\(?:u\{([0-9a-f]+)\}|x([0-9a-f]{2})|\n\s*|([\s\S]))/gi, (_, code, byte, letter) =>
    code ?? byte ? String.fromCodePoint(parseInt(code ?? byte, 16)) : escapes[letter] ?? '')
  const found = [...tests.matchAll(/r(#*)"([\s\S]*?)"\1|"((?:[^"\\]|\\[\s\S])*)"/g)]
  return found.map(it => it[2] ?? plain(it[3])).filter(text => text.includes('<'))
}

function attacks () {
  const purified = createRequire(import.meta.url)('./dompurify/package/test/fixtures/expect.js').map(it => it.payload)
  const data = join(here, 'bleach/tests/data')
  const bleached = readdirSync(data).map(file => readFileSync(join(data, file), 'utf8').split('\n--\n')[0])
  const ammonia = texts(readFileSync(join(process.env.AMMONIA, 'src/lib.rs'), 'utf8'))
  const all = { purified, bleached, ammonia }
  for (const [name, some] of Object.entries(all)) {
    console.log(`${name}: ${some.length} attacks`)
    assert.ok(some.length >= 20, `${name} has few`)
  }
  const plain = [...new Set(Object.values(all).flat())]
  const within = plain.flatMap(text => AROUND.map(([start, end]) => start + text + end))
  return process.env.TROUPE_MAIL_ATTACKS === 'all' ? plain.concat(within) : plain
}

/** Names that nobody has: a server that says so of each. */
function nobody () {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    let end = 12
    while (query[end] > 0) end += query[end] + 1
    const answer = Buffer.from(query.subarray(0, end + 5))
    answer.writeUInt16BE(0x8183, 2)
    answer.fill(0, 6, 12)
    socket.send(answer, from.port, from.address)
  })
  return new Promise(resolve => socket.bind(0, '127.0.0.1', () => resolve(socket)))
}

/** Brings messages over one connection. */
async function bring (port, address, bodies) {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  const lines = createLines(socket)
  const say = async (text, code) => {
    if (text) socket.write(text)
    let line
    do line = await lines.next(); while (line[3] === '-')
    assert.ok(line.startsWith(code), `${text?.slice(0, 80)}: ${line}`)
  }
  await say('', '220')
  await say('EHLO client.example\r\n', '250')
  for (const [number, body] of bodies.entries()) {
    const encoded = Buffer.from(body).toString('base64').replace(/.{76}/g, '$&\r\n')
    await say('MAIL FROM:<eve@attack.example>\r\n', '250')
    await say(`RCPT TO:<${address}>\r\n`, '250')
    await say('DATA\r\n', '354')
    await say(`From: Eve <eve@attack.example>\r\nTo: ${address}\r\nSubject: attack${number}\r\nMessage-ID: <${number}@attack.example>\r\n` +
      'MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n' +
      `${encoded}\r\n.\r\n`, '250')
  }
  socket.end()
}

function createLines (socket) {
  let rest = ''
  const waiting = []
  const there = []
  socket.setEncoding('utf8').on('data', text => {
    const parts = (rest + text).split('\r\n')
    rest = parts.pop()
    for (const line of parts) waiting.length ? waiting.shift()(line) : there.push(line)
  })
  return { next: () => there.length ? there.shift() : new Promise(resolve => waiting.push(resolve)) }
}

/** What the program shows of each message, by its number. */
async function shown (program, path, count) {
  const found = new Map()
  await until('all messages', async () => {
    for (let cursor = null, first = true; first || cursor; first = false) {
      const q = encodeURIComponent('in:anywhere from:eve')
      const page = await program.call('GET', `${path}/threads?q=${q}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`)
      for (const { subject, threadId } of page.threads) found.set(Number(subject.slice('attack'.length)), threadId)
      cursor = page.cursor
    }
    return found.size === count
  }, 60_000 + 200 * count)
  const html = []
  for (const [number, threadId] of found) {
    const { messages: [message] } = await program.call('GET', `${path}/threads/${threadId}`)
    html[number] = message.html ?? ''
  }
  return html
}

/** A page that notes what runs in it, and whom it asks. */
class Window {
  static async open (browser) {
    const window = new Window()
    const context = await browser.newContext()
    await context.addInitScript(() => {
      globalThis.ran = []
      for (const name of ['alert', 'confirm', 'prompt', 'print', 'open']) {
        globalThis[name] = (...given) => { globalThis.ran.push(`${name}(${given})`) }
      }
      addEventListener('error', event => { if (event.message) globalThis.ran.push(event.message) })
    })
    await context.route('**/*', route => {
      const url = route.request().url()
      if (url === ORIGIN) return route.fulfill({ contentType: 'text/html; charset=utf-8', body: window.body })
      window.asked.push(url)
      return route.abort()
    })
    window.page = await context.newPage()
    window.page.on('dialog', dialog => { window.asked.push(dialog.type()); dialog.dismiss().catch(() => {}) })
    window.close = () => context.close()
    return window
  }

  /** What comes of showing this, as a document and within one. */
  async look (body) {
    this.asked = []
    this.body = `<!doctype html><body>${body}`
    await this.page.goto(ORIGIN, { timeout: 10_000 })
    const seen = await this.page.evaluate(async ({ body, FORBIDDEN }) => {
      // As a page shows a message, and read again as it was written.
      const within = document.createElement('div')
      document.body.append(within)
      within.innerHTML = body
      within.innerHTML = within.innerHTML.toString()
      const wrong = []
      for (const it of document.body.querySelectorAll('*')) {
        if (it.matches(FORBIDDEN)) wrong.push(it.outerHTML)
        for (const { name, value } of it.attributes) {
          if (/^on|^formaction|^srcdoc/i.test(name)) wrong.push(`${name}="${value}"`)
          if (name === 'id' && !value.startsWith('mail-')) wrong.push(`${name}="${value}"`)
        }
        // What is no address leads nowhere.
        if ('href' in it && it.hasAttribute('href') && !['http:', 'https:', 'mailto:', 'tel:', 'cid:', ':'].includes(it.protocol)) wrong.push(it.outerHTML)
        for (const event of ['load', 'error', 'mouseover', 'mousedown', 'focus', 'toggle', 'animationend', 'pointerenter']) {
          it.dispatchEvent(new Event(event, { bubbles: true }))
        }
      }
      await new Promise(resolve => setTimeout(resolve, 5))
      return { ran: globalThis.ran, wrong }
    }, { body, FORBIDDEN })
    return { ...seen, asked: this.asked.filter(url => !url.startsWith('cid:')) }
  }
}

const bodies = attacks()
const resolver = await nobody()
const port = await freePort()
const program = await Program.start({
  settings: [`mail_server.smtp_listen=127.0.0.1:${port}`, 'mail_server.hostname=mx.example.net', `mail_server.resolver=127.0.0.1:${resolver.address().port}`]
})
const { user: { userId } } = await program.call('GET', '/me')
const { org } = await program.call('POST', '/orgs', { name: 'Post' })
const domain = `${org.slug}.localhost.localdomain`
const made = await program.call('POST', `/orgs/${org.orgId}/mail/admin/mailboxes`, { localPart: 'ada', domain, members: [userId] })
const path = `/orgs/${org.orgId}/mail/mailboxes/${made.mailbox.mailboxId}`

await bring(port, `ada@${domain}`, bodies)
const html = await shown(program, path, bodies.length)
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
})
let broken = 0
const places = html.keys()
await Promise.all(Array.from({ length: WINDOWS }, async () => {
  const window = await Window.open(browser)
  for (const number of places) {
    const { ran, wrong, asked } = await window.look(html[number])
    if (ran.length + wrong.length + asked.length === 0) continue
    broken += 1
    console.log(JSON.stringify({ attack: bodies[number], shown: html[number], ran, wrong, asked }))
  }
  await window.close()
}))

// As they came they do run, or ask somebody: what looks here would see it.
const some = bodies.slice(0, 4 * CONTROLS).filter((_, number) => number % 4 === 0)
let harmful = 0
for (const body of some) {
  const window = await Window.open(browser)
  const { ran, asked } = await window.look(body).catch(() => ({ ran: [], asked: [] }))
  harmful += Number(ran.length + asked.length > 0)
  await window.close()
}
await browser.close()
await program.close()
resolver.close()
console.log(`${html.length} attacks: of ${some.length} of them ${harmful} harm as they came, of all ${broken} as they are shown`)
assert.ok(harmful > some.length / 6, 'the attacks do little as they came')
assert.equal(broken, 0)
process.exit(0)
