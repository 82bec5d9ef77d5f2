// A browser whose tabs complain: of errors on their console, of what their policy forbids, and of whatever they ask of
// anybody but the server that they are on.

import { mkdirSync } from 'node:fs'
import { chromium } from 'playwright-core'

const PATIENCE = 60_000
// Where pictures go, if they are wanted.
const PICTURES = process.env.PICTURES

export class Browser {
  static async launch ({ forgives = /^$/ } = {}) {
    const browser = new Browser()
    browser.forgives = forgives
    browser.complaints = []
    browser.tabs = []
    browser.chromium = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      timeout: 2 * PATIENCE,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
    })
    return browser
  }

  /** Opens a page in a tab with cookies of its own; `prepare` is given the tab before anything is in it. */
  async open (url, { prepare, ...options } = {}) {
    const context = await this.chromium.newContext({ viewport: { width: 1180, height: 760 }, ...options })
    const tab = await context.newPage()
    tab.setDefaultTimeout(PATIENCE)
    tab.on('console', message => {
      if (message.type() === 'error' && !this.forgives.test(message.text())) this.complain(message.text())
    })
    tab.on('pageerror', error => this.complain(error.stack))
    tab.on('request', request => {
      const { protocol, origin } = new URL(request.url())
      if (protocol !== 'data:' && origin !== new URL(url).origin) this.complain(`asked ${request.url()}`)
    })
    await tab.addInitScript(() => document.addEventListener('securitypolicyviolation', event =>
      console.error(`the policy forbids ${event.violatedDirective} of ${event.blockedURI} at ${event.sourceFile}`)))
    this.tabs.push(tab)
    await prepare?.(tab)
    await tab.goto(url)
    return tab
  }

  complain (text) { this.complaints.push(`${this.step}: ${text}`) }

  async picture (tab, name) {
    if (!PICTURES) return
    mkdirSync(PICTURES, { recursive: true })
    await tab.screenshot({ path: `${PICTURES}/${name}.png` })
  }

  /** One step of a test, with its name. */
  async does (what, run) {
    this.step = what
    const from = Date.now()
    try {
      await run()
    } catch (error) {
      console.error(`failed: ${what}`, this.complaints)
      const open = this.tabs.filter(tab => !tab.isClosed())
      await Promise.allSettled(open.map((tab, at) => this.picture(tab, `failed-${at}`)))
      throw error
    }
    console.log(`ok  ${what} (${Date.now() - from} ms)`)
  }

  async close () {
    await this.chromium.close()
    if (this.complaints.length > 0) throw new Error(`the browser complained:\n${this.complaints.join('\n')}`)
  }
}
