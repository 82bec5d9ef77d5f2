// An authenticator app: time-based codes (RFC 6238).

import { createHmac } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_MS = 30_000

function bytes (base32) {
  const bits = [...base32].map(letter => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from(bits.match(/.{8}/g).map(byte => parseInt(byte, 2)))
}

export class Authenticator {
  constructor (secret) {
    this.key = bytes(secret)
    this.last = 0
  }

  /**
   * The next code that counts. Each is accepted once, and half a minute early or late: that of now, or the next where that was
   * used, counts for half a minute at least.
   */
  code () {
    this.last = Math.max(this.last + 1, Math.floor(Date.now() / STEP_MS))
    const counter = Buffer.alloc(8)
    counter.writeBigUInt64BE(BigInt(this.last))
    const digest = createHmac('sha1', this.key).update(counter).digest()
    const number = digest.readUInt32BE(digest.at(-1) & 15) & 0x7fffffff
    return String(number % 1_000_000).padStart(6, '0')
  }
}
