// What is in quarantine, what crashed, and what was slow.

import { doWith } from "./actors.js";
import { h, table } from "./elements.js";
import { read } from "./server.js";
import * as words from "./words.js";

const actorHref = (one) => `#/actors/${words.path(one.kind, one.key)}`;

export function quarantine() {
  const held = table({
    caption: "In quarantine",
    key: (actor) => `${actor.kind} ${actor.key}`,
    empty: "Nothing is in quarantine.",
    columns: [
      { head: "Kind", value: (actor) => actor.kind },
      { head: "Key", value: (actor) => actor.key, href: actorHref, kind: "code" },
      { head: "Crashes", value: (actor) => words.count(actor.crashes), kind: "number" },
      { head: "Left", value: (actor) => words.millis(actor.quarantineMs), kind: "number" },
      { head: "Last error", value: (actor) => actor.lastError ?? "", kind: "text" },
      {
        head: "", value: () => "",
        act: {
          label: "Release",
          async run(actor) {
            await doWith(actor, "release", "released");
            await refresh().catch(() => {});
          },
        },
      },
    ],
  });
  const crashes = table({
    caption: "Last crashes",
    key: (crash, place) => `${place}`,
    empty: "Nothing crashed since the node started.",
    columns: [
      { head: "At", value: (crash) => words.at(crash.at), kind: "number" },
      { head: "Kind", value: (crash) => crash.kind },
      { head: "Key", value: (crash) => crash.key, href: actorHref, kind: "code" },
      { head: "Command", value: (crash) => crash.command },
      { head: "Its crashes", value: (crash) => words.count(crash.crashes), kind: "number" },
      { head: "Quarantined until", value: (crash) => words.at(crash.quarantinedUntil), kind: "number" },
      { head: "Error", value: (crash) => crash.error, kind: "text" },
    ],
  });
  async function refresh() {
    const { kinds } = await read("actors");
    const troubled = kinds.filter((kind) => kind.quarantined > 0);
    const found = await Promise.all(troubled.map((kind) => read(`actors/${words.path(kind.kind)}?state=quarantined&sort=key&limit=500`)));
    held.update(found.flatMap((answer) => answer.actors));
    crashes.update((await read("crashes")).crashes);
  }
  return {
    title: "Quarantine",
    element: h("div", {}, h("h1", {}, "Quarantine"), held.element, h("h2", {}, "Last crashes"), crashes.element),
    update() {},
    refresh,
  };
}

export function slow() {
  const requests = table({
    caption: "Slow requests",
    key: (_, place) => place,
    empty: "No request took a second or more.",
    columns: [
      { head: "At", value: (request) => words.at(request.at), kind: "number" },
      { head: "Request", value: (request) => `${request.method} ${request.route}`, kind: "code" },
      { head: "Status", value: (request) => request.status, kind: "number" },
      { head: "Took", value: (request) => words.micros(request.tookUs), kind: "number" },
      { head: "Id", value: (request) => request.requestId, kind: "code" },
    ],
  });
  const commands = table({
    caption: "Slow commands",
    key: (_, place) => place,
    empty: "No command took longer than expected.",
    columns: [
      { head: "At", value: (command) => words.at(command.at), kind: "number" },
      { head: "Kind", value: (command) => command.kind },
      { head: "Key", value: (command) => command.key, href: actorHref, kind: "code" },
      { head: "Command", value: (command) => command.command },
      { head: "Queued", value: (command) => words.micros(command.queuedUs), kind: "number" },
      { head: "Loading", value: (command) => words.micros(command.loadingUs), kind: "number" },
      { head: "Deciding", value: (command) => words.micros(command.decidingUs), kind: "number" },
      { head: "Committing", value: (command) => words.micros(command.committingUs), kind: "number" },
      { head: "Request", value: (command) => command.requestId, kind: "code" },
    ],
  });
  const stalls = table({
    caption: "Turns that did not yield",
    key: (_, place) => place,
    empty: "Every turn let others go on within a second.",
    columns: [
      { head: "At", value: (stall) => words.at(stall.at), kind: "number" },
      { head: "Kind", value: (stall) => stall.kind },
      { head: "Key", value: (stall) => stall.key, href: actorHref, kind: "code" },
      { head: "Command", value: (stall) => stall.command },
      { head: "Held its thread", value: (stall) => words.millis(stall.heldMs), kind: "number" },
      { head: "Now", value: (stall) => (stall.goesOn ? "goes on" : "over") },
    ],
  });
  const lanes = table({
    caption: "Processor",
    key: (lane) => lane.lane,
    empty: "Nothing has taken the processor yet.",
    columns: [
      { head: "Lane", value: (lane) => lane.lane },
      { head: "Threads", value: (lane) => words.count(lane.threads), kind: "number" },
      { head: "Running", value: (lane) => words.count(lane.running), kind: "number" },
      { head: "Waiting", value: (lane) => words.count(lane.waiting), kind: "number" },
      { head: "Of tenants", value: (lane) => words.count(lane.tenantsWaiting), kind: "number" },
      { head: "Done", value: (lane) => words.count(lane.done), kind: "number" },
      { head: "Refused", value: (lane) => words.count(lane.refused), kind: "number" },
      { head: "Given up", value: (lane) => words.count(lane.abandoned), kind: "number" },
      { head: "Busy", value: (lane) => words.millis(lane.busyMs), kind: "number" },
    ],
  });
  return {
    title: "Slow",
    element: h("div", {}, h("h1", {}, "What was slow"), h("h2", {}, "Turns that did not yield"), stalls.element, h("h2", {}, "Processor"), lanes.element, h("h2", {}, "Commands"), commands.element, h("h2", {}, "Requests"), requests.element),
    update() {},
    async refresh() {
      const answer = await read("slow");
      commands.update(answer.commands);
      requests.update(answer.requests);
      stalls.update(answer.stalls);
      lanes.update((await read("actors")).processor);
    },
  };
}
