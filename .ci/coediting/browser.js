// The page at /docs/co-editing in a real browser: two people, of whom one loses the network and comes back.

import assert from 'node:assert/strict'
import { connect as connectTo, createServer } from 'node:net'
import { Program, until } from './program.js'
import { Browser } from './tabs.js'

const program = await Program.start()
const { orgs: [{ orgId }] } = await program.call('GET', '/orgs')
const people = []
for (const [email, name] of [['ada@example.org', 'Ada'], ['grace@example.org', 'Grace']]) {
  const password = program.person(email, name)
  const { user: { userId } } = await program.call('GET', '/me', undefined, await program.signIn(email, password))
  await program.call('POST', `/orgs/${orgId}/members`, { userId, role: 'developer' })
  people.push({ email, name, password })
}

/** A network of one's own, which can be cut: connections die, new ones are refused. */
class Network {
  static open () {
    const network = new Network()
    network.wires = new Set()
    network.up = true
    network.server = createServer(near => {
      if (!network.up) return near.destroy()
      const far = connectTo(program.port, '127.0.0.1')
      for (const [one, other] of [[near, far], [far, near]]) {
        network.wires.add(one)
        one.on('error', () => {}).on('close', () => { network.wires.delete(one); other.destroy() }).pipe(other)
      }
    })
    return new Promise(resolve => network.server.listen(0, '127.0.0.1', () => {
      network.base = `http://127.0.0.1:${network.server.address().port}`
      resolve(network)
    }))
  }

  cut () {
    this.up = false
    for (const wire of this.wires) wire.destroy()
  }

  mend () { this.up = true }
}

// A network that is cut is what this is about.
const browser = await Browser.launch({ forgives: /net::ERR|WebSocket connection|status of (401|502|503)/ })
const does = (what, run) => browser.does(what, run)
const picture = (tab, name) => browser.picture(tab, name)
let ada, grace

async function enter (person, base, options) {
  const tab = await browser.open(`${base}/docs/co-editing`, options)
  await tab.getByLabel('E-mail').fill(person.email)
  await tab.getByLabel('Password').fill(person.password)
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.locator('#notes').waitFor()
  return tab
}

const editor = tab => tab.locator('#editor .cm-content')
const text = tab => editor(tab).evaluate(content => content.cmTile?.view?.state.doc.toString() ?? content.cmView?.view?.state.doc.toString() ?? content.innerText)
// What comes last may still be on its way.
const equal = () => until('one text', async () => (await text(ada)) === (await text(grace)))
const write = async (tab, words) => {
  await editor(tab).click()
  await tab.keyboard.press('Control+End')
  await tab.keyboard.type(words)
}

const network = await Network.open()

await does('a wrong password is told, the right one opens the notes', async () => {
  const tab = await browser.open(`${program.base}/docs/co-editing`)
  await picture(tab, 'sign-in')
  await tab.getByLabel('E-mail').fill(people[0].email)
  await tab.getByLabel('Password').fill('not the password')
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.getByText('That email or password is wrong.').waitFor()
  await tab.context().close()
  ada = await enter(people[0], program.base)
  grace = await enter(people[1], network.base)
})

await does('a page that one makes and names is there for the other', async () => {
  await ada.getByRole('button', { name: 'New page' }).click()
  await ada.locator('.state.live').waitFor()
  await ada.getByLabel('Title').fill('Analytical engine')
  await ada.getByLabel('Title').press('Enter')
  await grace.getByRole('button', { name: 'Analytical engine' }).click()
  await grace.locator('.state.live').waitFor()
})

await does('both write, and both read it', async () => {
  await write(ada, '# Plan\n\nA machine that **weaves** algebraical patterns.\n\n')
  await until('the plan at the other’s', async () => (await text(grace)).includes('patterns.'))
  await write(grace, '- [ ] punch the cards\n')
  await until('the cards at the other’s', async () => (await text(ada)).includes('punch the cards'))
  await equal()
})

await does('each sees the other’s name and cursor, and where the other is in the tree', async () => {
  await ada.locator('#editor .caret-name', { hasText: 'Grace' }).waitFor()
  await ada.locator('#peers .face[title="Grace"]').waitFor()
  await ada.locator('.page .dot[title="Grace"]').waitFor()
  await picture(ada, 'light')
  await ada.emulateMedia({ colorScheme: 'dark' })
  await picture(ada, 'dark')
  await ada.emulateMedia({ colorScheme: 'light' })
})

await does('one loses the network: both go on writing, and are told', async () => {
  network.cut()
  await grace.locator('.state.offline').waitFor()
  await write(grace, 'written without a network\n')
  await write(ada, 'written meanwhile\n')
  await until('nobody there', async () => await ada.locator('#peers .face').count() === 0)
  assert(!(await text(ada)).includes('without a network'))
  assert(!(await text(grace)).includes('meanwhile'))
  await picture(grace, 'offline')
})

await does('the network is back: both have both', async () => {
  network.mend()
  for (const tab of [ada, grace]) {
    await until('both texts', async () => /without a network/.test(await text(tab)) && /meanwhile/.test(await text(tab)))
  }
  await equal()
  await grace.locator('.state.live').waitFor()
})

await does('the program is killed and comes back', async () => {
  await program.stop('SIGKILL')
  await ada.locator('.state.offline').waitFor()
  await write(ada, 'written into the void\n')
  await program.start()
  await until('the words at the other’s', async () => (await text(grace)).includes('into the void'))
  await equal()
})

await does('undoing takes back what one wrote oneself', async () => {
  await write(ada, 'a slip')
  await until('the slip', async () => (await text(grace)).includes('a slip'))
  await write(grace, ' of the pen')
  await until('both', async () => (await text(ada)).includes('a slip of the pen'))
  await editor(ada).click()
  await ada.keyboard.press('Control+z')
  await until('the undoing', async () => !(await text(grace)).includes('a slip') && (await text(grace)).includes('of the pen'))
})

await does('a write from outside reloads the page for all', async () => {
  const { pages: [{ pageId }] } = await program.call('GET', `/orgs/${orgId}/pages`)
  const page = `/orgs/${orgId}/pages/${pageId}`
  await program.putContent(page, '# Anew\n')
  for (const tab of [ada, grace]) await until('the new text', async () => (await text(tab)) === '# Anew\n')
  await write(ada, 'and on')
  await until('the other hears', async () => (await text(grace)).includes('and on'))
})

await does('it is made for a phone too', async () => {
  const phone = await enter(people[0], program.base, { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 })
  await picture(phone, 'phone-pages')
  await phone.getByRole('button', { name: 'Analytical engine' }).tap()
  await phone.locator('.state.live').waitFor()
  await until('the text', async () => (await text(phone)).includes('Anew'))
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390)
  await picture(phone, 'phone')
  await phone.context().close()
})

await does('a page that is thrown away closes', async () => {
  const { pages: [{ pageId }] } = await program.call('GET', `/orgs/${orgId}/pages`)
  await program.call('PATCH', `/orgs/${orgId}/pages/${pageId}`, { archived: true })
  await ada.locator('#nothing').waitFor()
  await grace.locator('#nothing').waitFor()
})

await does('signing out forgets', async () => {
  await ada.getByRole('button', { name: 'Sign out' }).click()
  await ada.getByLabel('E-mail').waitFor()
  await ada.reload()
  await ada.getByLabel('E-mail').waitFor()
})

await browser.close()
await program.close()
process.exit(0)
