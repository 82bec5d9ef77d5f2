// The actors of a kind, and one actor.

import { facts, h, say, setText, table } from "./elements.js";
import { kindCharts } from "./overview.js";
import { act, read } from "./server.js";
import * as words from "./words.js";

const actorHref = (actor) => `#/actors/${words.path(actor.kind, actor.key)}`;
// Sorted from its smallest on at first; everything else from its largest.
const ASCENDING = "key";

export const stateOf = (actor) => {
  if (actor.quarantineMs !== null) return `in quarantine for ${words.millis(actor.quarantineMs)}`;
  if (actor.command) return `at ${actor.command} for ${words.millis(actor.runningMs)}`;
  if (!actor.loaded) return "not loaded";
  return actor.inUse ? "in use" : "idle";
};

// Does something with an actor, and says how it went.
export async function doWith(actor, what, done) {
  try {
    await act(`actors/${words.path(actor.kind, actor.key)}/${what}`);
    say(`${actor.kind} ${actor.key}: ${done}`);
  } catch (error) {
    say(error.message, true);
  }
}

export function kindPage({ history, parts: [kind] }) {
  const asked = { q: "", state: "", sort: "waiting", order: "desc", cursor: "" };
  const charts = kindCharts(kind, history);
  const total = h("p", { class: "quiet", role: "status" });
  const rows = table({
    caption: `Actors of the kind ${kind}`,
    key: (actor) => actor.key,
    empty: "No actor fits.",
    sorted: () => asked,
    onsort(sort) {
      const natural = sort === ASCENDING ? "asc" : "desc";
      asked.order = asked.sort === sort ? (asked.order === "asc" ? "desc" : "asc") : natural;
      asked.sort = sort;
      anew();
    },
    columns: [
      { head: "Key", value: (actor) => actor.key, href: actorHref, kind: "code", sort: "key" },
      { head: "State", value: stateOf, sort: "running" },
      { head: "Waiting", value: (actor) => words.count(actor.waiting), kind: "number", sort: "waiting" },
      { head: "Crashes", value: (actor) => words.count(actor.crashes), kind: "number", sort: "crashes" },
      { head: "Last error", value: (actor) => actor.lastError ?? "", kind: "text" },
      { head: "Active", value: (actor) => words.at(actor.activeAt), kind: "number", sort: "active" },
    ],
  });
  const search = h("input", { type: "search", name: "q", maxlength: "200", oninput: later });
  const state = h("select", { name: "state", onchange: anew },
    [["", "any"], ["busy", "busy"], ["crashed", "crashed"], ["quarantined", "in quarantine"]]
      .map(([value, name]) => h("option", { value }, name)));
  const first = h("button", { type: "button", onclick: anew }, "First page");
  const next = h("button", { type: "button", onclick: () => turn(following) }, "Next page");
  let waiting;
  let following = null;
  function turn(cursor) {
    asked.cursor = cursor;
    refresh().catch((error) => say(error.message, true));
  }
  function anew() {
    turn("");
  }
  function later() {
    clearTimeout(waiting);
    waiting = setTimeout(anew, 250);
  }
  function wanted() {
    asked.q = search.value.trim();
    asked.state = state.value;
    return new URLSearchParams(Object.entries(asked).filter(([, value]) => value !== "")).toString();
  }
  async function refresh() {
    const query = wanted();
    const answer = await read(`actors/${words.path(kind)}?${query}`);
    // Something else was asked for meanwhile.
    if (query !== wanted()) return;
    rows.update(answer.actors);
    following = answer.cursor;
    first.disabled = asked.cursor === "";
    next.disabled = following === null;
    setText(total, `${words.count(answer.actors.length)} of ${words.count(answer.total)}`);
  }
  return {
    title: kind,
    element: h("div", {},
      h("h1", {}, kind),
      h("section", { class: "card" }, charts.elements),
      h("h2", {}, "Actors"),
      h("div", { class: "tools", role: "search" }, h("label", {}, "Search", search), h("label", {}, "State", state)),
      rows.element, h("div", { class: "tools pages" }, first, next, total)),
    update: () => charts.update(),
    refresh,
    close: () => clearTimeout(waiting),
  };
}

export function actorPage({ parts: [kind, key] }) {
  const actor = { kind, key };
  const shown = facts();
  const error = h("p", { class: "bad code" });
  const recent = table({
    caption: "Recent commands",
    key: (_, place) => place,
    empty: "It has done nothing yet.",
    columns: [
      { head: "At", value: (command) => words.at(command.at), kind: "number" },
      { head: "Command", value: (command) => command.command },
      { head: "Outcome", value: (command) => command.outcome },
      { head: "Queued", value: (command) => words.micros(command.queuedUs), kind: "number" },
      { head: "Handled", value: (command) => words.micros(command.handledUs), kind: "number" },
      { head: "Request", value: (command) => command.requestId, kind: "code" },
    ],
  });
  const button = (what, label, done) => h("button", {
    type: "button",
    "data-act": what,
    onclick: async () => {
      await doWith(actor, what, done);
      await refresh().catch(() => {});
    },
  }, label);
  const restart = button("restart", "Restart", "its next command loads it again");
  const passivate = button("passivate", "Passivate", "it has left memory");
  const release = button("release", "Release", "released");
  const acts = [restart, passivate, release];
  async function refresh() {
    let answer;
    try {
      answer = await read(`actors/${words.path(kind, key)}`);
    } catch (refused) {
      if (refused.status !== 404) throw refused;
      shown.update([["State", "not on this node"]]);
      setText(error, "");
      recent.update([]);
      acts.forEach((button) => { button.disabled = true; });
      return;
    }
    const now = answer.actor;
    restart.disabled = false;
    passivate.disabled = now.quarantineMs !== null;
    release.disabled = now.crashes === 0;
    shown.update([
      ["State", stateOf(now), now.quarantineMs !== null],
      ["Waiting", words.count(now.waiting)],
      ["Crashes", words.count(now.crashes), now.crashes > 0],
      ["Active", words.at(now.activeAt)],
      ["Node", answer.node],
    ]);
    setText(error, now.lastError ?? "");
    recent.update(answer.recent);
  }
  return {
    title: key,
    element: h("div", {},
      h("p", {}, h("a", { href: `#/kinds/${words.path(kind)}` }, `All of the kind ${kind}`)),
      h("h1", {}, key), shown.element, error,
      h("div", { class: "tools" }, acts),
      h("h2", {}, "Recent commands"), recent.element),
    update() {},
    refresh,
  };
}
