// What the load program and a peer have to say to each other.

/** Says where the peer serves. Each line that comes in frees what is garbage; the end of them ends the process. */
export function attend(port) {
  process.stdin.on('data', () => globalThis.gc())
  process.stdin.on('end', () => process.exit())
  console.log(`API http://127.0.0.1:${port}/`)
}
