// The tree of pages, kept current by its live socket, with who is on which page.

import { request } from './api.js'
import { colourOf } from './peers.js'

const tab = `tab-${crypto.randomUUID()}`

const device = () => /Mobi|Android/.test(navigator.userAgent) ? 'Phone' : 'Computer'

/** Reads and shows the pages; `chosen` hears of a click, `changed` of a page that was changed or is gone (null). */
export class Tree {
  constructor ({ place, pages, chosen, changed }) {
    Object.assign(this, { place, pages, chosen, changed })
    this.byId = new Map()
    this.present = new Map()
    this.current = null
    this.closed = false
  }

  async open () {
    await this.read()
    this.listen()
  }

  close () {
    this.closed = true
    this.socket?.close()
    this.place.replaceChildren()
  }

  /** The tab shows this page now. */
  look (pageId) {
    this.current = pageId
    this.say()
    this.render()
  }

  async read () {
    const all = await this.pages.list()
    this.byId = new Map(all.map(page => [page.pageId, page]))
    if (this.current && !this.byId.has(this.current)) this.changed(this.current, null)
    this.render()
  }

  put (page) {
    this.byId.set(page.pageId, { ...this.byId.get(page.pageId), ...page })
    this.changed(page.pageId, this.byId.get(page.pageId))
    this.render()
  }

  say () {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ type: 'here', pageId: this.current }))
    }
  }

  async listen () {
    for (let pause = 500; !this.closed; pause = Math.min(pause * 2, 15_000)) {
      try {
        const { socket } = await this.pages.live(tab, device())
        await new Promise(resolve => {
          this.socket = new WebSocket(`${socket.url}?ticket=${encodeURIComponent(socket.ticket)}`)
          this.socket.onmessage = event => {
            pause = 500
            this.heard(JSON.parse(event.data))
          }
          this.socket.onclose = resolve
        })
      } catch (error) {
        if (error.status === 401 || error.status === 403 || error.status === 404) return
      }
      this.present.clear()
      await new Promise(resolve => setTimeout(resolve, pause * (0.5 + Math.random())))
    }
  }

  heard (message) {
    switch (message.type) {
      case 'ready':
      case 'reset':
        if (message.present) this.present = new Map(message.present.map(one => [keyOf(one), one]))
        this.read().catch(() => {})
        this.say()
        break
      case 'here':
        this.present.set(keyOf(message), message)
        this.render()
        break
      case 'gone':
        this.present.delete(keyOf(message))
        this.render()
        break
      case 'page.created':
      case 'page.changed':
      case 'page.moved':
        this.put(message.page)
        break
      case 'page.archived':
      case 'page.deleted':
        for (const pageId of message.pageIds) this.byId.delete(pageId)
        if (message.pageIds.includes(this.current)) this.changed(this.current, null)
        this.render()
        break
      case 'page.restored':
        this.read().catch(() => {})
    }
  }

  render () {
    const children = new Map()
    for (const page of this.byId.values()) {
      const parent = this.byId.has(page.parentId) ? page.parentId : null
      children.set(parent, [...children.get(parent) ?? [], page])
    }
    const branch = (parent, depth) => (children.get(parent) ?? [])
      .sort((a, b) => a.position - b.position || (a.pageId < b.pageId ? -1 : 1))
      .flatMap(page => [this.line(page, depth), ...branch(page.pageId, depth + 1)])
    const lines = branch(null, 0)
    const focused = this.place.contains(document.activeElement) ? document.activeElement.dataset.page : null
    this.place.replaceChildren(...lines)
    if (focused) this.place.querySelector(`[data-page="${CSS.escape(focused)}"]`)?.focus()
  }

  line (page, depth) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'page'
    button.dataset.page = page.pageId
    button.dataset.depth = Math.min(depth, 8)
    if (page.pageId === this.current) button.setAttribute('aria-current', 'page')
    const icon = button.appendChild(document.createElement('span'))
    icon.className = 'icon'
    icon.textContent = page.icon || (page.kind === 'database' ? '▦' : '·')
    const title = button.appendChild(document.createElement('span'))
    title.className = page.title ? 'title' : 'title untitled'
    title.textContent = page.title || 'Untitled'
    for (const [userId, name] of this.lookersAt(page.pageId)) {
      const dot = button.appendChild(document.createElement('span'))
      dot.className = `dot ${colourOf(userId)}`
      dot.title = name
    }
    button.onclick = () => this.chosen(page.pageId)
    return button
  }

  lookersAt (pageId) {
    const others = [...this.present.values()].filter(one => one.pageId === pageId && one.tab !== tab)
    return new Map(others.map(one => [one.userId, one.name]))
  }
}

const keyOf = ({ userId, tab }) => `${userId} ${tab}`

/** The organizations whose pages can be opened. */
export const organizations = async () => (await request('GET', '/orgs')).orgs
