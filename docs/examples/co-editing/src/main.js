// The page: signing in, choosing a page, writing.

import { Pages, Refusal, forget, isSignedIn, request, signIn, signOut } from './api.js'
import { openSession } from './session.js'
import { colourOf } from './peers.js'
import { Tree, organizations } from './tree.js'

const at = id => document.getElementById(id)
const STATES = { connecting: 'Connecting', live: 'Live', offline: 'Offline. What you write is kept here and sent later.' }

let me
let pages
let tree
let session
/** Counts openings, so that a slow one that was overtaken is thrown away. */
let opening = 0

function show (part) {
  for (const name of ['sign-in', 'notes']) at(name).hidden = name !== part
}

function say (text, copy) {
  at('word').textContent = text
  at('notice').hidden = !text
  at('copy').hidden = !copy
  at('copy').onclick = () => navigator.clipboard.writeText(copy).then(() => { at('copy').textContent = 'Copied' })
  at('copy').textContent = 'Copy what you had'
}

/** What went wrong, in words; a lost sign-in asks for a new one. */
function failed (error) {
  if (error instanceof Refusal && error.status === 401) {
    forget()
    leaveNotes()
    show('sign-in')
    at('email').focus()
    return
  }
  say(error instanceof Refusal ? error.message : 'The server can’t be reached. Try again in a moment.')
}

function showState (state) {
  at('state').className = `state ${state}`
  at('state').title = STATES[state] ?? ''
  at('state').textContent = state === 'offline' ? 'Offline' : STATES[state] ?? ''
}

function showPeers (peers) {
  at('peers').replaceChildren(...peers.slice(0, 5).map(({ id, name }) => {
    const face = document.createElement('span')
    face.className = `face ${colourOf(id)}`
    face.textContent = [...name][0].toUpperCase()
    face.title = name
    return face
  }))
  at('peers').setAttribute('aria-label', peers.map(peer => peer.name).join(', '))
}

function closeSession () {
  session?.close()
  session = undefined
  showPeers([])
  showState('')
}

function leaveNotes () {
  opening++
  closeSession()
  tree?.close()
  tree = undefined
}

async function openPage (pageId) {
  const number = ++opening
  closeSession()
  say('')
  document.body.classList.remove('choosing')
  const page = tree.byId.get(pageId)
  if (!page) return
  history.replaceState(null, '', `#${pageId}`)
  tree.look(pageId)
  at('title').value = page.title
  at('paper').hidden = false
  at('nothing').hidden = true
  at('title').disabled = true
  const heard = {
    state: state => number === opening && showState(state),
    peers: peers => number === opening && showPeers(peers),
    canWrite: canWrite => {
      if (number !== opening) return
      at('title').disabled = !canWrite
      at('reading').hidden = canWrite
    },
    ended: (reason, text) => number === opening && ended(reason, text)
  }
  const fetchPage = () => pages.collab(pageId)
  try {
    const opened = await openSession({ place: at('editor'), fetchPage, me, heard })
    if (number !== opening) return opened.close()
    session = opened
    if (matchMedia('(pointer: fine)').matches) (page.title ? session : at('title')).focus()
  } catch (error) {
    if (number === opening) failed(error)
  }
}

/** The page's document came to an end from elsewhere. */
async function ended (reason, text) {
  const pageId = tree.current
  if (reason === 4409) {
    await openPage(pageId)
    // What is on the server now need not hold what was written here last.
    if (session && session.doc.getText('markdown').toString() !== text) {
      say('This page was changed elsewhere and reloaded.', text)
    }
    return
  }
  closeSession()
  if (reason === 401) return failed(new Refusal(401))
  const words = {
    4404: 'This page is in the trash. Restore it to edit.',
    4413: 'Pages can be up to 1 MB.',
    403: 'You can’t see this page any more.',
    404: 'This page is gone.'
  }
  say(words[reason] ?? 'This page was closed by the server. Open it again.', text)
}

function closePage () {
  opening++
  closeSession()
  tree.look(null)
  history.replaceState(null, '', location.pathname)
  at('paper').hidden = true
  at('nothing').hidden = false
}

/** The tree says that a page is another now, or gone. */
function changed (pageId, page) {
  if (pageId !== tree?.current) return
  if (!page) {
    closePage()
    say('That page was removed.')
  } else if (document.activeElement !== at('title')) {
    at('title').value = page.title
  }
}

async function openOrganization (orgId) {
  leaveNotes()
  at('paper').hidden = true
  at('nothing').hidden = false
  sessionStorage.setItem('troupe.org', orgId)
  pages = new Pages(orgId)
  tree = new Tree({ place: at('pages'), pages, chosen: openPage, changed })
  await tree.open()
  const wanted = location.hash.slice(1)
  if (tree.byId.has(wanted)) await openPage(wanted)
  else document.body.classList.add('choosing')
}

async function openNotes () {
  try {
    const { user } = await request('GET', '/me')
    me = { id: user.userId, name: user.name }
    at('who').textContent = user.name
    const orgs = await organizations()
    at('org').replaceChildren(...orgs.map(org => new Option(org.name, org.orgId)))
    show('notes')
    if (orgs.length === 0) return say('You belong to no organization yet.')
    const last = sessionStorage.getItem('troupe.org')
    at('org').value = orgs.some(org => org.orgId === last) ? last : orgs[0].orgId
    await openOrganization(at('org').value)
  } catch (error) {
    failed(error)
  }
}

at('sign-in').addEventListener('submit', async event => {
  event.preventDefault()
  const button = at('sign-in').querySelector('button')
  button.disabled = true
  at('refusal').textContent = ''
  try {
    await signIn(at('email').value, at('password').value, at('otp').value)
    at('password').value = at('otp').value = ''
    await openNotes()
  } catch (error) {
    at('refusal').textContent = error instanceof Refusal ? error.message : 'The server can’t be reached.'
    if (['code_wanted', 'wrong_code'].includes(error.code)) {
      at('second').hidden = false
      at('otp').focus()
    }
  } finally {
    button.disabled = false
  }
})

at('sign-out').addEventListener('click', async () => {
  leaveNotes()
  await signOut()
  show('sign-in')
})

at('org').addEventListener('change', () => {
  history.replaceState(null, '', location.pathname)
  openOrganization(at('org').value).catch(failed)
})

at('new').addEventListener('click', async () => {
  try {
    const page = await pages.create('root')
    tree.put(page)
    await openPage(page.pageId)
  } catch (error) {
    failed(error)
  }
})

at('title').addEventListener('change', async () => {
  const pageId = tree.current
  try {
    tree.put(await pages.rename(pageId, at('title').value))
  } catch (error) {
    failed(error)
  }
})

at('title').addEventListener('keydown', event => {
  if (event.key !== 'Enter' || event.isComposing) return
  event.preventDefault()
  session?.focus()
})

at('menu').addEventListener('click', () => document.body.classList.toggle('choosing'))
at('veil').addEventListener('click', () => document.body.classList.remove('choosing'))
at('dismiss').addEventListener('click', () => say(''))

if (isSignedIn()) openNotes()
else show('sign-in')
