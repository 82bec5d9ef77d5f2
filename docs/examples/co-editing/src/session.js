// One open page: its document, its connection, its editor.

import * as Y from 'yjs'
import { Awareness } from 'y-protocols/awareness'
import { openEditor } from './editor.js'
import { connect } from './reconnect.js'
import { peersOf } from './peers.js'

/** The name of the shared text that the server stores as the page's Markdown. */
const TEXT = 'markdown'

/**
 * Opens a page in `place`. `heard` is told of its `state` (`connecting`, `live` or `offline`), of who else is there
 * (`peers`), of whether it can be written (`canWrite`), and with `ended` why it was closed from elsewhere.
 */
export async function openSession ({ place, fetchPage, me, heard }) {
  const doc = new Y.Doc()
  const awareness = new Awareness(doc)
  awareness.setLocalStateField('user', me)
  let editor
  let closed = false

  const collab = async () => {
    const page = await fetchPage()
    heard.canWrite(page.canWrite)
    editor?.allow(page.canWrite)
    return page
  }
  const ended = reason => { if (!closed) heard.ended(reason, doc.getText(TEXT).toString()) }

  const page = await collab()
  // What the page holds can be read before its socket is open.
  Y.applyUpdate(doc, Uint8Array.from(atob(page.state), character => character.charCodeAt(0)))
  let first = page
  const provider = await connect(doc, () => {
    const fetched = first ?? collab()
    first = null
    return fetched
  }, ended, { awareness })

  heard.state('connecting')
  provider.on('sync', synced => { if (synced) heard.state('live') })
  provider.on('status', ({ status }) => { if (status === 'disconnected') heard.state('offline') })
  awareness.on('change', () => heard.peers(peersOf(awareness)))
  editor = openEditor(place, doc.getText(TEXT), awareness, page.canWrite)

  // Says goodbye to the others, rather than leaving them to find out.
  const leave = () => awareness.setLocalState(null)
  addEventListener('pagehide', leave)
  return {
    doc,
    provider,
    focus: () => editor.view.focus(),
    close () {
      closed = true
      removeEventListener('pagehide', leave)
      editor.close()
      leave()
      doc.destroy()
    }
  }
}
