// The nodes and the kinds of actor, at a glance.

import { chart } from "./charts.js";
import { facts, h, table, tiles } from "./elements.js";
import { ROOM } from "./history.js";
import * as words from "./words.js";

// The charts and facts of one kind.
export function kindCharts(kind, history) {
  const residents = chart({ label: "Residents", show: words.count, room: ROOM });
  const messages = chart({ label: "Messages a second", show: words.rate, room: ROOM });
  const queued = chart({ label: "Queued p50 · p99", show: words.micros, room: ROOM, names: ["p50", "p99"] });
  const handled = chart({ label: "Handled p50 · p99", show: words.micros, room: ROOM, names: ["p50", "p99"] });
  const shown = facts();
  const charts = h("div", { class: "charts" }, [residents, messages, queued, handled].map((one) => one.element));
  return {
    elements: [charts, shown.element],
    update() {
      const of = (value) => history.series(kind, value);
      residents.update([of((one) => one.resident)]);
      messages.update([of((one, pulse) => (one.handled * 1000) / Math.max(pulse.spanMs, 1))]);
      queued.update([of((one) => one.queuedP50Us), of((one) => one.queuedP99Us)]);
      handled.update([of((one) => one.handledP50Us), of((one) => one.handledP99Us)]);
      const now = history.kinds().find((one) => one.kind === kind);
      if (!now) return;
      shown.update([
        ["Waiting", words.count(now.waiting)],
        ["High-water", words.count(now.depthMax)],
        ["Crashes", words.count(now.crashes), now.crashes > 0],
        ["Restarts", words.count(now.restarts)],
        ["In quarantine", words.count(now.quarantined), now.quarantined > 0],
      ]);
    },
  };
}

function card(kind, history) {
  const charts = kindCharts(kind, history);
  const element = h("article", { class: "card", "data-kind": kind },
    h("h3", {}, h("a", { href: `#/kinds/${words.path(kind)}` }, kind)), charts.elements);
  return {
    element,
    update() {
      charts.update();
      const now = history.kinds().find((one) => one.kind === kind);
      element.classList.toggle("alarm", Boolean(now && now.quarantined > 0));
    },
  };
}

export const nodeColumns = [
  { head: "Node", value: (node) => node.node, kind: "code" },
  { head: "Status", value: (node) => node.status },
  { head: "Version", value: (node) => node.version },
  { head: "Up for", value: (node) => words.millis(node.seenAt - node.startedAt), kind: "number" },
  { head: "Seen", value: (node) => words.at(node.seenAt), kind: "number" },
  { head: "Database", value: (node) => words.micros(node.database.tookUs), kind: "number" },
  { head: "Hub", value: (node) => `${node.hub.mode === "redis" ? "Redis" : "in process"}: ${node.hub.status} for ${words.millis(node.hub.forSeconds * 1000)}` },
  { head: "Memory", value: (node) => words.bytes(node.residentBytes), kind: "number" },
];

const jobColumns = [
  { head: "Label", value: (jobs) => jobs.label, kind: "code" },
  { head: "Jobs", value: (jobs) => words.count(jobs.queued), kind: "number" },
  { head: "The oldest waits for", value: (jobs) => words.millis(jobs.oldestMs), kind: "number" },
];

// What asks for jobs of pipelines, and what stopped to.
function runners(pipelines) {
  const { registered, paused, asked } = pipelines?.runners ?? {};
  const lost = pipelines?.lost;
  const known = (value) => (value === null || value === undefined ? "–" : words.count(value));
  return [
    { name: "Runners that ask · all", value: pipelines ? `${known(asked)} · ${known(registered)}` : "–" },
    { name: "Paused runners", value: known(paused) },
    { name: "Runners lost over a job", value: known(lost) },
  ];
}

// How the node's database and hub are.
function state(health) {
  const href = "#/health";
  if (!health) return [{ name: "Database", value: "–", href }, { name: "Hub", value: "–", href }];
  const { databaseUs, hub, hubConnected, clockIsOff, clockBehindMs } = health;
  const clock = { name: "Clock", value: `off by ${words.millis(Math.abs(clockBehindMs))}`, href, alarm: true };
  return [
    ...(clockIsOff ? [clock] : []),
    { name: "Database", value: databaseUs === null ? "away" : words.micros(databaseUs), href, alarm: databaseUs === null },
    { name: hub === "redis" ? "Redis" : "Hub", value: hubConnected ? "ok" : "away", href, alarm: !hubConnected },
  ];
}

export function overview({ history }) {
  const shown = tiles();
  const nodes = table({ caption: "Nodes", columns: nodeColumns, key: (node) => node.node, empty: "No node has said yet that it is there." });
  const labels = table({ caption: "Jobs that wait for runners", columns: jobColumns, key: (jobs) => jobs.label, empty: "No job waits for a runner." });
  const grid = h("div", { class: "kinds" });
  const cards = new Map();
  const sum = (value) => history.kinds().reduce((all, kind) => all + value(kind), 0);

  return {
    title: "Overview",
    element: h("div", {}, h("h1", {}, "Overview"), shown.element, h("h2", {}, "Nodes"), nodes.element,
      h("h2", {}, "Jobs that wait for runners, by label"), labels.element, h("h2", {}, "Kinds of actor"), grid),
    update() {
      history.kinds().forEach(({ kind }, place) => {
        if (cards.has(kind)) return;
        cards.set(kind, card(kind, history));
        grid.insertBefore(cards.get(kind).element, grid.children[place] ?? null);
      });
      cards.forEach((one) => one.update());
      const last = history.pulses.at(-1);
      const perSecond = last ? (sum((kind) => kind.handled) * 1000) / Math.max(last.spanMs, 1) : 0;
      const quarantined = sum((kind) => kind.quarantined);
      const { timers, outbox, deliveries, jobs, pipelines } = history.queues ?? {};
      const git = history.health?.git;
      const known = (value) => (value === undefined ? "–" : words.count(value));
      shown.update([
        ...state(history.health),
        { name: "Residents", value: words.count(sum((kind) => kind.resident)) },
        { name: "Messages a second", value: words.rate(perSecond) },
        { name: "Crashes", value: words.count(sum((kind) => kind.crashes)), href: "#/quarantine" },
        { name: "In quarantine", value: words.count(quarantined), href: "#/quarantine", alarm: quarantined > 0 },
        { name: "Late timers", value: known(timers?.late), href: "#/timers", alarm: timers?.late > 0 },
        { name: "Outbox given up", value: known(outbox?.parked), href: "#/outbox", alarm: outbox?.parked > 0 },
        { name: "Failed deliveries", value: known(deliveries?.failed), href: "#/deliveries", alarm: deliveries?.failed > 0 },
        { name: "Queued jobs", value: known(jobs?.queued) },
        { name: "Oldest queued job", value: words.millis(jobs?.oldestMs) },
        { name: "Git running · waiting", value: git ? `${words.count(git.running)} · ${words.count(git.waiting)}` : "–" },
        ...runners(pipelines),
      ]);
      if (pipelines) labels.update(pipelines.labels);
    },
    async refresh(all) {
      nodes.update(all);
    },
  };
}
