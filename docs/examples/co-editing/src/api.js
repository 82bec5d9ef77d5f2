// Troupe's HTTP interface, as far as this page needs it.

const TOKEN = 'troupe.token'

/** What the server refused, with the status of its answer. */
export class Refusal extends Error {
  constructor (status, body) {
    super(body?.error ?? 'Something went wrong.')
    this.status = status
    this.code = body?.code
  }
}

/** Lives as long as the tab: another tab signs in for itself. */
let token = sessionStorage.getItem(TOKEN)

export const isSignedIn = () => token !== null

export async function request (method, path, body) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {}
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  const answer = await fetch(`/v1${path}`, { method, headers, body: body && JSON.stringify(body) })
  const json = answer.status === 204 ? null : await answer.json().catch(() => null)
  if (!answer.ok) throw new Refusal(answer.status, json)
  return json
}

export async function signIn (email, password, otp) {
  const body = { email, password, app: 'account', platform: 'web', ...(otp && { otp }) }
  token = (await request('POST', '/auth/sign-in', body)).token
  sessionStorage.setItem(TOKEN, token)
}

export async function signOut () {
  await request('POST', '/auth/sign-out').catch(() => {})
  forget()
}

/** Forgets who is signed in, without telling the server. */
export function forget () {
  token = null
  sessionStorage.removeItem(TOKEN)
}

/** The same socket, at the address that this page came from: the page may talk to no other. */
function near (found) {
  if (found.socket) found.socket.url = location.origin.replace(/^http/, 'ws') + new URL(found.socket.url).pathname
  return found
}

/** The pages of one organization. */
export class Pages {
  constructor (orgId) {
    this.path = `/orgs/${orgId}/pages`
  }

  list = async () => (await request('GET', this.path)).pages
  create = async parentId => (await request('POST', this.path, { parentId, title: '' })).page
  rename = async (pageId, title) => (await request('PATCH', `${this.path}/${pageId}`, { title })).page
  collab = async pageId => near(await request('GET', `${this.path}/${pageId}/collab?ticket=1`))
  live = async (tab, device) => near(await request('GET', `${this.path}/live?${new URLSearchParams({ tab, device })}`))
}
