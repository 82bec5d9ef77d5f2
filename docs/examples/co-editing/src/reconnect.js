import { WebsocketProvider } from 'y-websocket'

/**
 * Connects `doc` to a page, and connects it again whenever that ends, with a new ticket.
 *
 * `collab` fetches the page's `collab?ticket=1`; where the answer is an error, it throws one with its `status`.
 * Destroying the document ends it. `ended` is told when there is no way back: 4409 for a page that has another document now, 4404 for one in the trash,
 * 4413 for a document that grew too large, or the status with which `collab` failed.
 */
export async function connect (doc, collab, ended, options = {}) {
  let { epoch, socket } = await collab()
  const slash = socket.url.lastIndexOf('/')
  const params = () => ({ ticket: socket.ticket, ...(epoch && { epoch }) })
  const provider = new WebsocketProvider(socket.url.slice(0, slash), socket.url.slice(slash + 1), doc, {
    params: params(),
    // Tabs must not pass on what belongs to a document that the page no longer has.
    disableBc: true,
    ...options
  })
  let synced = false
  let stopped = false
  doc.once('destroy', () => {
    stopped = true
    provider.destroy()
  })
  provider.once('sync', async () => {
    synced = true
    // Who is the first to open a page makes its document, and learns now which it is.
    epoch ??= await collab().then(page => page.epoch, () => null)
  })
  // Others pass over a state that they have heard before they lost sight of this client: it is said anew.
  provider.on('sync', isSynced => isSynced && provider.awareness.setLocalState(provider.awareness.getLocalState()))
  provider.on('connection-close', async event => {
    if (!provider.shouldConnect) return
    // The ticket is spent: the provider must not try again by itself.
    provider.shouldConnect = false
    if ([4400, 4404, 4409, 4413].includes(event?.code)) return ended(event.code)
    for (let pause = 250; !stopped; pause = Math.min(pause * 2, 10_000)) {
      await new Promise(resolve => setTimeout(resolve, pause * (0.5 + Math.random())))
      try {
        const page = await collab()
        if (page.epoch !== epoch && (epoch || synced)) return ended(4409)
        socket = page.socket
        epoch = page.epoch
        provider.params = params()
        if (!stopped) provider.connect()
        return
      } catch (error) {
        // Too many requests, and whatever is the server's own fault or the network's, pass.
        if (error.status >= 400 && error.status < 500 && error.status !== 429) return ended(error.status)
      }
    }
  })
  return provider
}
