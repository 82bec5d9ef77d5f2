// What happened in the last five minutes, from one stream of events. It holds no more than that, however long it runs.

import { chosen, session } from "./server.js";

// Pulses that are kept; one comes every two seconds.
export const ROOM = 150;
const AGAIN_AFTER_MS = 2000;

export class History {
  // `onchange` is called with everything that comes, `onback` with who is signed in once a lost server answers again.
  constructor(onchange, onback) {
    this.onchange = onchange;
    this.onback = onback;
    this.source = null;
    this.again = null;
    this.clear();
    document.addEventListener("visibilitychange", () => (document.hidden ? this.pause() : this.open()));
  }

  clear() {
    this.pulses = [];
    this.queues = null;
    this.health = null;
    this.silent = null;
    this.seq = 0;
  }

  // Watches the node that is chosen, from now on.
  watch() {
    this.pause();
    this.clear();
    this.watching = true;
    this.open();
  }

  stop() {
    this.watching = false;
    this.pause();
  }

  pause() {
    clearTimeout(this.again);
    this.source?.close();
    this.source = null;
  }

  open() {
    if (!this.watching || this.source || document.hidden) return;
    const query = new URLSearchParams({ after: this.seq, node: chosen.node });
    const source = new EventSource(`/console/live?${query}`);
    this.source = source;
    const on = (name, hear) => source.addEventListener(name, (event) => {
      hear(JSON.parse(event.data));
      this.onchange();
    });
    on("pulse", ({ pulses }) => this.heard(pulses));
    on("queues", (queues) => { this.queues = queues; });
    on("health", (health) => { this.health = health; });
    on("silent", (silent) => this.missed(silent));
    source.addEventListener("error", () => this.lost(source));
  }

  heard(pulses) {
    this.silent = null;
    if (pulses.length === 0) return;
    // A smaller number is of a node that started anew.
    if (pulses[0].seq <= this.seq) this.pulses = [];
    this.pulses = [...this.pulses, ...pulses].slice(-ROOM);
    this.seq = pulses.at(-1).seq;
  }

  // What did not come, and why.
  missed({ of, error }) {
    if (of === "pulse") this.silent = error;
    else this[of] = null;
  }

  // The stream ended: because the server stops, or because the sign-in no longer counts.
  async lost(source) {
    if (source !== this.source) return;
    this.pause();
    this.silent = "The server can't be reached; trying again.";
    this.onchange();
    try {
      this.onback(await session());
    } catch (error) {
      if (error.status === 401 || error.status === 403) {
        window.dispatchEvent(new Event("signed-out"));
        return;
      }
    }
    this.again = setTimeout(() => this.open(), AGAIN_AFTER_MS);
  }

  // The kinds that ever had an actor, by name, as they are now.
  kinds() {
    return this.pulses.at(-1)?.kinds ?? [];
  }

  // What a kind was like in each pulse; `value` takes it out of one.
  series(kind, value) {
    return this.pulses.map((pulse) => {
      const found = pulse.kinds.find((one) => one.kind === kind);
      return found ? value(found, pulse) : 0;
    });
  }
}
