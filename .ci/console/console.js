// The operators' console at /console in a real browser: an operator signs in, watches, sees a crash loop end in quarantine
// and the alarm about it, and releases what was held.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { Authenticator } from './otp.js'
import { Program, until } from './program.js'
import { Browser } from './tabs.js'
import { stay } from './days.js'

const PAGES = ['', 'quarantine', 'timers', 'outbox', 'deliveries', 'health', 'slow']
const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
// What the pictures of the README show takes a while to happen.
const PULSES = process.env.TROUPE_UPDATE_DOCS ? 60 : 3

const faults = new URL('./faults', import.meta.url).pathname
const goesWrong = rules => writeFileSync(faults, rules)
goesWrong('')
const settings = ['server.requests_per_minute=1000000']
const program = await Program.start({ settings, env: { TROUPE_FAULTS: `@${faults}`, RUST_BACKTRACE: '0' } })
const { orgs: [{ orgId }] } = await program.call('GET', '/orgs')
const enrolment = await program.call('POST', '/me/otp')
const app = new Authenticator(enrolment.secret)
const { page: { pageId } } = await program.call('POST', `/orgs/${orgId}/pages`, { title: 'Page' })
const page = `/orgs/${orgId}/pages/${pageId}`
const { recoveryCodes } = await program.call('POST', '/me/otp/confirm', { otp: app.code() })

// A page that loses its server says so on its console, and so does a refused sign-in. A clock that is set back uses a limit up.
const browser = await Browser.launch({ forgives: /net::ERR|status of (401|429|503)/ })
const does = (what, run) => browser.does(what, run)
let tab

const card = kind => tab.locator(`.card[data-kind="${kind}"]`)
const tile = name => tab.locator('.tiles li', { hasText: name }).locator('b')
const rows = name => tab.getByRole('region', { name, exact: true }).locator('tbody tr')
const go = async (page, on = tab) => {
  await on.evaluate(to => new Promise(resolve => {
    if (window.location.hash === to) return resolve()
    window.addEventListener('hashchange', () => setTimeout(resolve), { once: true })
    window.location.hash = to
  }), `#/${page}`)
}

async function signIn (on, otp) {
  await on.getByLabel('E-mail').fill(program.owner)
  await on.getByLabel('Password').fill(program.password)
  await on.getByLabel('Password').press('Enter')
  await on.getByText('Enter the code from your authenticator app.').waitFor()
  await on.getByLabel('Code of your authenticator app').fill(otp)
  await on.keyboard.press('Enter')
  await on.getByRole('heading', { name: 'Overview' }).waitFor()
}

/** Presses Tab until whatever has the focus is what is looked for. */
async function tabTo (what, isIt) {
  for (let presses = 0; presses < 200; presses++) {
    if (await tab.evaluate(isIt)) return
    await tab.keyboard.press('Tab')
  }
  throw new Error(`${what} can't be reached by keyboard`)
}

/**
 * Has the actor of the organization's pages crash until it is in quarantine and somebody was told. Then the clock is held back,
 * so that the minute of quarantine lasts for as long as there is something to look at.
 */
async function quarantine () {
  const loop = `handler:page_tree@${orgId}=panic`
  for (;;) {
    goesWrong(loop)
    await until('a quarantine', async () => {
      const refused = await program.call('POST', `/orgs/${orgId}/pages`, { title: 'Never' }).catch(error => error)
      return refused.status === 503 && refused.message.includes('quarantined')
    })
    await until('the alarm', async () => (await program.call('GET', '/platform/deliveries')).kept.some(isAlarm))
    goesWrong(`${loop}\nclock=-3600s`)
    const left = await until('the clock', async () => {
      const found = await program.call('GET', `/platform/actors/page_tree/${orgId}`).catch(error => error)
      if (found.status === 429) return null
      const { quarantineMs } = found.actor
      return (quarantineMs === null && 'over') || (quarantineMs > 120_000 && 'held')
    })
    if (left === 'held') return
  }
}

const isAlarm = message => message.to === program.owner && `${message.subject} ${message.body}`.includes('page_tree')

/** Something for the charts to show. */
const work = {
  async run () {
    for (let round = 0; !this.isOver; round++) {
      try {
        await program.call('PATCH', `/orgs/${orgId}`, { name: `Platform ${round % 2}` })
        await program.call('PATCH', page, { title: `Page ${round}` })
        await program.putContent(page, `# Round ${round}\n`)
      } catch (error) {
        // A server that is busy is one that there is something to see of.
        if (error.status !== 503) throw error
      }
      await new Promise(resolve => setTimeout(resolve, 5 + 20 * (round % 7)))
    }
  },
  start () { this.isOver = false; this.running = this.run() },
  async stop () { this.isOver = true; await this.running }
}

await does('a wrong password and a wrong code are told', async () => {
  tab = await browser.open(`${program.base}/console`)
  await tab.getByLabel('E-mail').fill(program.owner)
  await tab.getByLabel('Password').fill('not the password')
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.getByText('That email or password is wrong.').waitFor()
  await tab.getByLabel('Password').fill(program.password)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.getByText('Enter the code from your authenticator app.').waitFor()
  await tab.getByLabel('Code of your authenticator app').fill('no code')
  await tab.keyboard.press('Enter')
  await tab.getByText('That code is wrong.').waitFor()
  await browser.picture(tab, 'sign-in')
})

await does('password and code open the overview, and no script of the page has the token', async () => {
  await tab.getByLabel('Code of your authenticator app').fill(app.code())
  await tab.keyboard.press('Enter')
  await tab.getByRole('heading', { name: 'Overview' }).waitFor()
  assert.deepEqual(await tab.evaluate(() => [document.cookie, localStorage.length, sessionStorage.length]), ['', 0, 0])
  const cookies = await tab.context().cookies()
  assert.deepEqual(cookies.map(({ name, path, httpOnly, sameSite }) => [name, path, httpOnly, sameSite]), [['troupe_console', '/console', true, 'Strict']])
})

await does('charts move while things happen', async () => {
  work.start()
  const messages = card('organization').locator('figure', { hasText: 'Messages a second' })
  const lines = new Set()
  await until('a line that moves', async () => {
    const line = await messages.locator('path.first').getAttribute('d').catch(() => null)
    if (line) lines.add(line)
    return lines.size > PULSES
  }, 300_000)
  await until('messages', async () => Number(await messages.locator('output').innerText()) > 0)
  await until('the database’s answer', async () => /^\d.*(µs|ms|s)$/.test(await tile('Database').innerText()))
  assert.equal(await tile('Hub').innerText(), 'ok')
  assert.equal(await tile('In quarantine').innerText(), '0')
  await rows('Nodes').first().waitFor()
  await tab.setViewportSize({ width: 1180, height: 1000 })
  await browser.picture(tab, 'console-overview')
})

await does('a kind’s actors are sorted and searched', async () => {
  await card('organization').getByRole('link').click()
  await tab.getByRole('heading', { name: 'organization', exact: true }).waitFor()
  await rows('Actors of the kind organization').first().waitFor()
  await tab.getByRole('button', { name: 'Key' }).click()
  await tab.locator('th[aria-sort=ascending]', { hasText: 'Key' }).waitFor()
  await tab.getByLabel('Search').fill('nobody has this key')
  await tab.getByText('No actor fits.').waitFor()
  await tab.getByLabel('Search').fill(orgId)
  await tab.getByRole('link', { name: orgId }).waitFor()
})

await does('one actor shows its last commands', async () => {
  await tab.getByRole('link', { name: orgId }).click()
  await tab.getByRole('heading', { name: orgId }).waitFor()
  await rows('Recent commands').getByText('ok', { exact: true }).first().waitFor()
  await tab.getByRole('button', { name: 'Restart' }).click()
  await tab.locator('#said', { hasText: 'its next command loads it again' }).waitFor()
  await work.stop()
})

await does('jobs that wait for runners are counted by label', async () => {
  await go('')
  const workflow = 'on: push\njobs:\n  test:\n    runs-on: [linux, gpu]\n    steps:\n      - run: make\n'
  const file = { op: 'put', path: '.service/workflows/ci.yml', content: Buffer.from(workflow).toString('base64') }
  await program.call('POST', `/orgs/${orgId}/repos`, { name: 'web' })
  await program.call('POST', `/orgs/${orgId}/repos/web/contents`, { branch: 'main', message: 'Begin', changes: [file] })
  const labels = async () => (await rows('Jobs that wait for runners').allInnerTexts()).map(text => text.split(/\s/)[0])
  await until('the job', async () => (await labels()).sort().join() === 'gpu,linux')
  assert.equal(await tile('Queued jobs').innerText(), '1')
})

await does('a crash loop is seen to end in quarantine', async () => {
  await go('')
  await quarantine()
  await until('the alarm on the overview', async () => await tile('In quarantine').innerText() === '1')
  await tab.locator('.card.alarm[data-kind="page_tree"]').waitFor()
  await tab.getByRole('link', { name: 'Quarantine (1)' }).click()
  const held = rows('In quarantine')
  await held.getByRole('link', { name: orgId }).waitFor()
  assert.match(await held.innerText(), /an injected panic/)
  await rows('Last crashes').first().waitFor()
  await browser.picture(tab, 'quarantine')
})

await does('the actor in quarantine says why, in the dark too', async () => {
  await rows('In quarantine').getByRole('link', { name: orgId }).click()
  await tab.getByText('in quarantine for').waitFor()
  await rows('Recent commands').getByText('crashed', { exact: true }).first().waitFor()
  assert.equal(await tab.getByRole('button', { name: 'Passivate' }).isDisabled(), true)
  await tab.emulateMedia({ colorScheme: 'dark' })
  for (const [name, least] of [['main h1', 7], ['.facts dt', 4.5], ['.facts .bad', 4.5], ['main a', 4.5]]) {
    const ratio = await contrast(name)
    assert(ratio >= least, `${name}: ${ratio}`)
  }
  await tab.setViewportSize({ width: 1180, height: 720 })
  // What the clock's jump had the page say.
  await until('silence', async () => await tab.locator('#said').innerText() === '')
  await browser.picture(tab, 'console-actor')
  await tab.emulateMedia({ colorScheme: 'light' })
})

await does('the notice of the alarm is there', async () => {
  await go('deliveries')
  await until('the e-mail about it', async () => {
    const kept = await rows('Kept instead of sent').allInnerTexts()
    return kept.some(text => text.includes(program.owner) && text.includes('page_tree'))
  })
  const { notices } = await program.call('GET', '/me/notifications')
  assert(notices.some(notice => JSON.stringify(notice).includes('ops.alarm')), JSON.stringify(notices))
  await browser.picture(tab, 'deliveries')
})

await does('it is released by keyboard, and works again', async () => {
  await go('')
  await tabTo('the page of what is in quarantine', () => document.activeElement.getAttribute('href') === '#/quarantine' && document.activeElement.closest('nav') !== null)
  await tab.keyboard.press('Enter')
  await rows('In quarantine').first().waitFor()
  await tabTo('the button', () => document.activeElement.textContent === 'Release')
  await tab.keyboard.press('Enter')
  await tab.locator('#said', { hasText: 'released' }).waitFor()
  await tab.getByText('Nothing is in quarantine.').waitFor()
  await until('the focus at the table', () => tab.evaluate(() => document.activeElement.getAttribute('aria-label') === 'In quarantine'))
  goesWrong('')
  await until('that it works', async () => program.call('POST', `/orgs/${orgId}/pages`, { title: 'Again' }).catch(() => null))
  const { events } = await program.call('GET', `/orgs/${orgId}/audit?action=actor`)
  assert.deepEqual(events.map(event => event.action).sort(), ['actor.released', 'actor.restarted'])
  await until('no quarantine', async () => await tab.getByRole('link', { name: 'Quarantine', exact: true }).count() === 1)
})

await does('it is made for a phone too', async () => {
  const storageState = await tab.context().storageState()
  const phone = await browser.open(`${program.base}/console`, { ...PHONE, storageState })
  await phone.locator('.card').first().waitFor()
  for (const page of [...PAGES, 'kinds/organization', `actors/organization/${orgId}`]) {
    await go(page, phone)
    await phone.locator('main table:not([hidden]), main .empty:not([hidden])').first().waitFor()
    assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390, page)
  }
  await go('', phone)
  await phone.locator('.card').first().waitFor()
  await browser.picture(phone, 'phone')
  await phone.context().close()
})

await does('the server stops and comes back, and the page goes on by itself', async () => {
  await go('')
  await program.stop()
  await tab.getByText('The server can\'t be reached').first().waitFor()
  await program.start()
  await until('pulses again', async () => !(await tab.locator('header .bad').isVisible()) && await tab.locator('.card').count() > 0)
  await until('its node', async () => (await rows('Nodes').allInnerTexts()).some(text => text.includes('up')))
})

await does('it holds no more after hours than after minutes', async () => {
  await stay(browser, `${program.base}/console`, await tab.context().storageState())
})

await does('signing out ends it, everywhere', async () => {
  const other = await browser.open(`${program.base}/console`, { storageState: await tab.context().storageState() })
  await other.getByRole('heading', { name: 'Overview' }).waitFor()
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.getByLabel('E-mail').waitFor()
  await other.getByLabel('E-mail').waitFor()
  assert.deepEqual(await tab.context().cookies(), [])
  await tab.reload()
  await signIn(tab, recoveryCodes[0])
})

await browser.close()
await program.close()
process.exit(0)

/** How well the text of an element stands out from what is behind it (WCAG). */
function contrast (selector) {
  return tab.locator(selector).first().evaluate(element => {
    const channels = color => color.match(/[\d.]+/g).map(Number)
    const luminance = color => {
      const [red, green, blue] = channels(color).slice(0, 3).map(value => value / 255)
        .map(value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const behind = from => {
      const { backgroundColor } = getComputedStyle(from)
      return (channels(backgroundColor)[3] ?? 1) > 0 ? backgroundColor : behind(from.parentElement)
    }
    const [low, high] = [getComputedStyle(element).color, behind(element)].map(luminance).sort((one, other) => one - other)
    return (high + 0.05) / (low + 0.05)
  })
}
