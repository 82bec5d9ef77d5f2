// The console: which page is shown, who is signed in, and what is watched.

import { actorPage, kindPage } from "./actors.js";
import { h, say, setText } from "./elements.js";
import { History } from "./history.js";
import { overview } from "./overview.js";
import { deadLetters, deliveries, health, jobs, outbox, timers } from "./queues.js";
import { chosen, read, session, signIn, signOut } from "./server.js";
import { quarantine, slow } from "./trouble.js";

const REFRESH_MS = 5000;
const PAGES = new Map(Object.entries({
  "": overview, kinds: kindPage, actors: actorPage, quarantine, timers, outbox, deliveries, jobs, dead: deadLetters, health, slow,
}));
const MENU = [
  ["", "Overview"], ["quarantine", "Quarantine"], ["timers", "Timers"], ["outbox", "Outbox"],
  ["deliveries", "Deliveries"], ["jobs", "Jobs"], ["dead", "Dead letters"], ["health", "Health"], ["slow", "Slow"],
];

const top = document.getElementById("top");
const main = document.getElementById("page");
const silence = h("span", { class: "bad", role: "status", hidden: true });
const nodes = h("select", { "aria-label": "Node", onchange: () => choose(nodes.value) });
const links = new Map(MENU.map(([page, name]) => [page, h("a", { href: `#/${page}` }, name)]));
const history = new History(heard, back);
let current = null;
let asking = null;
let refreshing = null;
let version = null;

// Something came over the stream.
function heard() {
  current?.update();
  silence.hidden = !history.silent;
  setText(silence, history.silent ?? "");
  const quarantined = history.kinds().reduce((all, kind) => all + kind.quarantined, 0);
  setText(links.get("quarantine"), quarantined > 0 ? `Quarantine (${quarantined})` : "Quarantine");
}

// The server is back; this page may be of an older one.
function back(who) {
  if (who.version !== version) window.location.reload();
}

// The name of the page and what follows it: #/kinds/organization. An address that can't be read is the overview's.
function place() {
  try {
    const [name, ...parts] = window.location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
    return PAGES.has(name) ? { name, parts } : { name: "", parts: [] };
  } catch {
    return { name: "", parts: [] };
  }
}

async function refresh() {
  if (!current || asking === current || document.hidden) return;
  const shown = current;
  asking = shown;
  try {
    const found = await read("nodes");
    if (shown === current) follow(found);
    if (shown === current) await shown.refresh(found.nodes);
  } catch (error) {
    if (shown === current && error.status !== 401) say(error.message, true);
  } finally {
    if (asking === shown) asking = null;
  }
}

function show() {
  const { name, parts } = place();
  current?.close?.();
  current = PAGES.get(name)({ history, parts });
  main.replaceChildren(current.element);
  document.title = `${current.title} – Troupe console`;
  for (const [page, link] of links) {
    if (page === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  current.update();
  refresh();
}

function turn() {
  show();
  main.focus();
}

// Watches another node. Each question names it, so that it doesn't matter which node a balancer sends it to.
function choose(node) {
  chosen.node = node;
  history.watch();
  show();
}

// Keeps the list of nodes, and leaves one that is gone.
function follow({ node: answering, nodes: all }) {
  const up = all.filter((node) => node.status === "up").map((node) => node.node);
  const names = [...new Set([answering, ...up])].sort();
  const shown = [...nodes.options].map((option) => option.value);
  if (names.join("\n") !== shown.join("\n")) nodes.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
  nodes.hidden = names.length < 2;
  if (!names.includes(chosen.node)) {
    say(`The node ${chosen.node} is gone; this is ${answering}.`);
    choose(answering);
  }
  nodes.value = chosen.node;
}

function begin(who) {
  version = who.version;
  chosen.node = who.node;
  const leave = h("button", { type: "button", onclick: end }, "Sign out");
  nodes.replaceChildren();
  nodes.hidden = true;
  top.replaceChildren(h("strong", {}, "Troupe"), h("nav", { "aria-label": "Pages" }, [...links.values()]),
    h("div", { class: "who" }, silence, nodes, h("span", { title: who.email }, who.name), leave));
  top.hidden = false;
  history.watch();
  clearInterval(refreshing);
  refreshing = setInterval(refresh, REFRESH_MS);
  window.addEventListener("hashchange", turn);
  turn();
}

function leave() {
  clearInterval(refreshing);
  history.stop();
  window.removeEventListener("hashchange", turn);
  current?.close?.();
  current = null;
  top.hidden = true;
  askWho();
}

async function end() {
  try {
    await signOut();
  } catch (error) {
    // Whoever can't be signed out still is signed in.
    if (error.status !== 401) {
      say(error.message, true);
      return;
    }
  }
  leave();
}

function askWho() {
  const error = h("p", { class: "bad", role: "alert" });
  const otp = h("input", { name: "otp", autocomplete: "one-time-code", inputmode: "text", maxlength: "64" });
  const second = h("label", { hidden: true }, "Code of your authenticator app, or a recovery code", otp);
  const email = h("input", { name: "email", type: "email", autocomplete: "username", required: true });
  const password = h("input", { name: "password", type: "password", autocomplete: "current-password", required: true });
  const button = h("button", { class: "first" }, "Sign in");
  async function submit(event) {
    event.preventDefault();
    button.disabled = true;
    error.textContent = "";
    try {
      const who = { email: email.value, password: password.value };
      if (otp.value) who.otp = otp.value.trim();
      begin(await signIn(who));
    } catch (refused) {
      if (refused.code === "code_wanted" || refused.code === "wrong_code") {
        second.hidden = false;
        otp.select();
        otp.focus();
      }
      error.textContent = refused.message;
    } finally {
      button.disabled = false;
    }
  }
  main.replaceChildren(h("form", { class: "sign-in card", onsubmit: submit },
    h("h1", {}, "Troupe console"), h("label", {}, "E-mail", email), h("label", {}, "Password", password), second, error, button));
  document.title = "Sign in – Troupe console";
  email.focus();
}

window.addEventListener("signed-out", () => {
  if (!top.hidden) leave();
});
document.addEventListener("visibilitychange", refresh);

try {
  begin(await session());
} catch (error) {
  askWho();
  if (error.status !== 401) say(error.message, true);
}
