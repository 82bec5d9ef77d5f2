// The program under test: started, stopped and killed on one port, over one data folder.

import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { createServer } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PROGRAM = process.env.TROUPE_PROGRAM

// None that the system gives to whoever asks for any: it must be free still when the program starts again.
export const freePort = () => new Promise(resolve => {
  const port = 20_000 + Math.floor(Math.random() * 12_000)
  const server = createServer().once('error', () => resolve(freePort()))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(port)))
})

export class Program {
  /** Starts a program with an empty folder, these settings and this environment. */
  static async start ({ settings = [], env = {} } = {}) {
    const program = new Program()
    Object.assign(program, { settings, env })
    program.folder = mkdtempSync(join(tmpdir(), 'troupe-clients-'))
    program.port = await freePort()
    program.base = `http://127.0.0.1:${program.port}`
    await program.start()
    return program
  }

  async start () {
    const settings = ['operators.listen=', 's3.listen=', 'log.level=warn', 'shutdown.grace=5s', ...this.settings]
    const flags = ['--data', this.folder, '--listen', `127.0.0.1:${this.port}`]
    this.child = spawn(PROGRAM, [...flags, ...settings.flatMap(it => ['--set', it])], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...this.env } })
    // Nothing is left behind by a test that fails.
    process.once('exit', () => this.child.kill('SIGKILL'))
    this.ended = new Promise(resolve => this.child.once('exit', resolve))
    for await (const line of createInterface(this.child.stdout)) {
      const [name, value] = line.trim().split(/\s+/)
      if (name === 'Owner') this.owner = value
      if (name === 'Password') this.password = value
      if (name === 'Token') this.token = value
      if (line.includes('Press Ctrl-C')) break
    }
    this.child.stdout.resume()
  }

  /** SIGTERM: in order; SIGKILL: at once, with nothing flushed. */
  async stop (signal = 'SIGTERM') {
    this.child.kill(signal)
    await this.ended
  }

  async restart (signal) {
    await this.stop(signal)
    await this.start()
  }

  async close () {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Makes a person from the shell, as an operator does; the password. */
  person (email, name) {
    const made = spawnSync(PROGRAM, ['--data', this.folder, 'admin', 'user-create', email, '--name', name], { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(made.stdout + made.stderr)
    return /^Password\s+(.*)$/m.exec(made.stdout)[1].trim()
  }

  /** Calls the interface; throws what is refused, with its status. */
  async call (method, path, body, token = this.token) {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const answer = await fetch(`${this.base}/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${text}`), { status: answer.status })
    return text && JSON.parse(text)
  }

  /** Writes a page's content from outside of co-editing; the server may store what was typed in between. */
  async putContent (page, markdown) {
    for (;;) {
      const { content: { version } } = await this.call('GET', page)
      try {
        return await this.call('PUT', `${page}/content`, { blocks: null, markdown, baseVersion: version })
      } catch (error) {
        if (error.status !== 409) throw error
      }
    }
  }

  async signIn (email, password) {
    const body = { email, password, app: 'account', platform: 'web' }
    return (await this.call('POST', '/auth/sign-in', body, '')).token
  }
}

/** Waits until `holds` answers something true. */
export async function until (what, holds, patience = 60_000) {
  const deadline = Date.now() + patience
  let seen
  while (Date.now() < deadline) {
    seen = await holds()
    if (seen) return seen
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error(`${what} did not come to be; last: ${JSON.stringify(seen)}`)
}
