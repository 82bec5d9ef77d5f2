// What the page holds after it has been open for long: hours of pulses, told by a server of the test's own within seconds.

import assert from 'node:assert/strict'
import { until } from './program.js'

// Twenty minutes, at one every two seconds: longer than what is shown.
const PULSES_PER_STREAM = 600
const STREAMS = 6
const KINDS = ['organization', 'page_tree', 'person', 'vault']
// A page that kept a pulse of these kinds would hold a kilobyte more for each.
const HEAP_GROWTH_MAX = PULSES_PER_STREAM * (STREAMS - 1) * 300

function pulse (seq) {
  const kinds = KINDS.map((kind, place) => ({
    kind, resident: seq % 97 + place, waiting: seq % 5, depthMax: 9, quarantined: 0, crashes: 0, restarts: 0, handled: seq * 31 % 211,
    queuedP50Us: 8, queuedP99Us: seq % 64, handledP50Us: 128, handledP99Us: seq * 7 % 1024
  }))
  return `event: pulse\ndata: ${JSON.stringify({ node: 'told', pulses: [{ seq, at: Date.now(), spanMs: 2000, kinds }] })}\n\n`
}

async function held (devtools) {
  await devtools.send('HeapProfiler.collectGarbage')
  const { metrics } = await devtools.send('Performance.getMetrics')
  const of = name => metrics.find(metric => metric.name === name).value
  return { nodes: of('Nodes'), listeners: of('JSEventListeners'), heap: of('JSHeapUsedSize') }
}

/** Leaves the page open while streams of pulses come and end, and asserts that it holds what it held. */
export async function stay (browser, url, storageState) {
  let streams = 0
  const tell = route => {
    streams++
    const after = Number(new URL(route.request().url()).searchParams.get('after'))
    const body = Array.from({ length: PULSES_PER_STREAM }, (_, at) => pulse(after + 1 + at)).join('')
    return route.fulfill({ status: 200, contentType: 'text/event-stream', body })
  }
  const tab = await browser.open(url, { storageState, prepare: tab => tab.route('**/console/live?*', tell) })
  const devtools = await tab.context().newCDPSession(tab)
  await devtools.send('Performance.enable')
  // A stream is asked for once the one before was read to its end.
  await until('twenty minutes', () => streams > 2, 300_000)
  const before = await held(devtools)
  const from = streams
  await until('hours', () => streams >= from + STREAMS, 600_000)
  // What a stream that is being read makes and throws away is no growth: between two streams it holds as little again.
  let after
  await until('no more than after twenty minutes', async () => {
    after = await held(devtools)
    return after.nodes <= before.nodes + 100 && after.listeners <= before.listeners + 20 && after.heap <= before.heap + HEAP_GROWTH_MAX
  }, 120_000).catch(() => assert.fail(`it grew from ${JSON.stringify(before)} to ${JSON.stringify(after)}`))
  await tab.context().close()
}
