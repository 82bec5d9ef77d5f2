// The others in a document: their colours, and their cursors in the text.

import * as Y from 'yjs'
import { Annotation, RangeSet } from '@codemirror/state'
import { Decoration, ViewPlugin, WidgetType } from '@codemirror/view'

const COLOURS = 8
const moved = Annotation.define()

/** A person's colour, the same in every window: a class, so that nothing of what others send becomes style. */
export function colourOf (userId) {
  let hash = 7
  for (const character of String(userId)) hash = (hash * 31 + character.codePointAt(0)) >>> 0
  return `peer-${hash % COLOURS}`
}

/** Whoever else is in the document, one entry a person; awareness comes from clients, so nothing in it is relied on. */
export function peersOf (awareness) {
  const peers = new Map()
  for (const [clientId, state] of awareness.getStates()) {
    if (clientId === awareness.clientID || typeof state?.user?.name !== 'string') continue
    const { name, id = clientId } = state.user
    peers.set(String(id), { id: String(id), name: name.slice(0, 80) || 'Somebody' })
  }
  return [...peers.values()]
}

class Caret extends WidgetType {
  constructor (name, colour) {
    super()
    this.name = name
    this.colour = colour
  }

  eq (other) {
    return other.name === this.name && other.colour === this.colour
  }

  toDOM () {
    const caret = document.createElement('span')
    caret.className = `caret ${this.colour}`
    const label = caret.appendChild(document.createElement('span'))
    label.className = 'caret-name'
    label.textContent = this.name
    // Keeps the line's height where a caret stands in an empty one.
    caret.prepend('\u2060')
    return caret
  }

  ignoreEvent () {
    return true
  }
}

/** Shows the others' cursors and selections in `text`, and tells them of ours. */
export function cursors (text, awareness) {
  class Cursors {
    constructor (view) {
      this.decorations = this.draw(view)
      this.listener = ({ added, updated, removed }) => {
        const others = [...added, ...updated, ...removed].some(id => id !== awareness.clientID)
        if (others) view.dispatch({ annotations: moved.of(true) })
      }
      awareness.on('change', this.listener)
    }

    destroy () {
      awareness.off('change', this.listener)
      awareness.setLocalStateField('cursor', null)
    }

    update (update) {
      if (update.selectionSet || update.docChanged || update.focusChanged) this.tell(update.view)
      if (update.docChanged || update.transactions.some(it => it.annotation(moved))) {
        this.decorations = this.draw(update.view)
      }
    }

    tell (view) {
      const { anchor, head } = view.state.selection.main
      const at = index => Y.createRelativePositionFromTypeIndex(text, index)
      const known = awareness.getLocalState()?.cursor
      const cursor = view.hasFocus ? JSON.parse(JSON.stringify({ anchor: at(anchor), head: at(head) })) : null
      if (JSON.stringify(known ?? null) !== JSON.stringify(cursor)) awareness.setLocalStateField('cursor', cursor)
    }

    draw (view) {
      const ranges = []
      const length = view.state.doc.length
      for (const [clientId, state] of awareness.getStates()) {
        if (clientId === awareness.clientID || !state?.cursor) continue
        const [anchor, head] = [place(state.cursor.anchor), place(state.cursor.head)]
        if (anchor === null || head === null) continue
        const name = typeof state.user?.name === 'string' ? state.user.name.slice(0, 80) : 'Somebody'
        const colour = colourOf(state.user?.id ?? clientId)
        const [from, to] = [Math.min(anchor, head, length), Math.min(Math.max(anchor, head), length)]
        if (from < to) ranges.push(Decoration.mark({ class: `peer-selection ${colour}` }).range(from, to))
        const widget = new Caret(name, colour)
        ranges.push(Decoration.widget({ widget, side: head > anchor ? -1 : 1 }).range(Math.min(head, length)))
      }
      return RangeSet.of(ranges, true)
    }
  }

  /** Where a relative position is in the text; none for one of elsewhere, or that can't be read. */
  function place (json) {
    try {
      const absolute = Y.createAbsolutePositionFromRelativePosition(Y.createRelativePositionFromJSON(json), text.doc)
      return absolute?.type === text ? absolute.index : null
    } catch {
      return null
    }
  }

  return ViewPlugin.fromClass(Cursors, { decorations: plugin => plugin.decorations })
}
