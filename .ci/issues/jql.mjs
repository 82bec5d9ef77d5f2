// Random queries: what npm's @atlaskit/jql-parser and @atlaskit/jql-ast make of them, and what the program does.
//
//     node jql.mjs DRIVER COUNT TREES [SEED]
//
// COUNT queries are accepted or refused by both; of those that both accept, the first TREES have the same tree, with the same
// places. Whatever differs and is meant to is in `same`, below, and in docs/decisions/issues.md.
import { createRequire } from "node:module";
import { spawnSync } from "node:child_process";
import { isDeepStrictEqual } from "node:util";
const require = createRequire(import.meta.url);
const { JQLLexer, JQLParser } = require("@atlaskit/jql-parser");
const { JastBuilder } = require("@atlaskit/jql-ast");
const { CharStreams, CommonTokenStream } = require("antlr4ts");

const [driver, count = "5000", trees = "1000", seed = "1"] = process.argv.slice(2);

// -- random numbers, the same for the same seed --
let state = Number(seed) >>> 0;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (all) => all[below(all.length)];
const times = (n, make) => Array.from({ length: n }, make);
const chance = (p) => random() < p;

// -- every word that the package's lexer keeps for itself, read off its automaton --
function wordsOf(rule) {
  const { atn } = new JQLLexer(CharStreams.fromString(""));
  const found = new Set();
  const walk = (place, back, word) => {
    if (place.stateType === 7) {
      if (back.length === 0) found.add(word);
      else walk(back.at(-1), back.slice(0, -1), word);
      return;
    }
    for (let at = 0; at < place.numberOfTransitions; at++) {
      const step = place.transition(at);
      if (step.constructor.name === "RuleTransition") walk(step.target, [...back, step.followState], word);
      else if (!step.label) walk(step.target, back, word);
      else walk(step.target, back, word + String.fromCharCode(step.label.toArray()[0]).toLowerCase());
    }
  };
  walk(atn.ruleToStartState[JQLLexer.ruleNames.indexOf(rule)], [], "");
  return [...found];
}
const reserved = wordsOf("RESERVED_WORD");
const keywords = "in is and or not empty null was changed before after from to on during order by asc desc cf".split(" ");

// -- queries --
const inCase = (word) => (chance(0.6) ? word : chance(0.5) ? word.toUpperCase() : [...word].map((c) => (chance(0.5) ? c.toUpperCase() : c)).join(""));
const space = () => (chance(0.9) ? " " : pick(["  ", "\t", "\n", "\r\n", " \n\t "]));
const gap = () => (chance(0.5) ? "" : space());
const bare = () => pick([
  "status", "assignee", "a", "b", "x1", "WEB-12", "In_Progress", "due.date", "a:b", "`q`", "é", "日本", "\u00a0", "\u2028", "\ufeff", "a\u00a0b", "🎉", "-", "--", "-1w", "-5d", "1.5",
  "2026-01-31", "1and", "andx", "no", "selects", "ıs", "ſet", "\u212a", "cfx", "a\\ b", "\\u0041", "\\n", "x\\\\y", "\\\"", "\\'", "\\ud83d", "_", ".", "\ufffd", "\u{1fffe}", "fixVersion", "EMPTYx", "-x", "0x1",
]);
const number = () => pick(["0", "1", "-1", "007", "-0", "10001", "99999999999999999999"]);
const quotedOne = () => {
  const inside = times(below(5), () => pick(["a", " ", "and", "\\\"", "\\'", "\\\\", "\\n", "\\ ", "\\u00e9", "é", "🎉", "\n", "\r", "#$%*+/;?@^{}", "()[],=!<>~&|", "\u00a0", "\\t", "select"])).join("");
  return chance(0.5) ? `"${inside}${chance(0.2) ? "'" : ""}"` : `'${inside}${chance(0.2) ? '"' : ""}'`;
};
const text = () => pick([bare, bare, bare, quotedOne, () => inCase(pick(chance(0.5) ? reserved : keywords))].slice(0, chance(0.03) ? 5 : 4))();
const value = () => (chance(0.2) ? number() : text());
const property = () => `[${gap()}${value()}${gap()}]${times(below(3), () => (chance(0.5) ? space() : chance(0.5) ? "." : "") + value()).join(space())}`;
const field = () => (chance(0.05) ? number() : (chance(0.1) ? `${inCase("cf")}${gap()}[${gap()}${chance(0.9) ? number().replace("-", "") : value()}${gap()}]` : text()) + (chance(0.05) ? times(1 + below(2), property).join(gap()) : ""));
const func = () => `${value()}${gap()}(${gap()}${times(below(4), value).join(`${gap()},${gap()}`)}${gap()})`;
const empty = () => inCase(pick(["empty", "null"]));
const list = (depth) => `(${gap()}${times(1 + below(4), () => operand(depth - 1)).join(`${gap()},${gap()}`)}${gap()})`;
const operand = (depth) => pick([value, value, func, empty, () => (depth > 0 ? list(depth) : value())])();
const words = (all) => all.split(" ").map(inCase).join(space());
const predicates = (all) => times(below(4), () => `${space()}${inCase(pick(all))}${space()}${operand(1)}`).join("");
const clause = () => `${field()}${pick([
  () => `${gap()}${pick(["=", "!=", "~", "!~"])}${gap()}${pick([value, value, func, empty])()}`,
  () => `${gap()}${pick(["=", "!=", "~", "!~"])}${gap()}${pick([value, value, func, empty])()}`,
  () => `${gap()}${pick(["<", "<=", ">", ">="])}${gap()}${pick([value, func])()}`,
  () => `${space()}${words(pick(["in", "not in"]))}${space()}${pick([() => list(2), func])()}`,
  () => `${space()}${words(pick(["is", "is not"]))}${space()}${empty()}`,
  () => `${space()}${words(pick(["was", "was not"]))}${space()}${pick([value, func, empty])()}${predicates(["before", "after", "on", "during", "by"])}`,
  () => `${space()}${words(pick(["was in", "was not in"]))}${space()}${pick([() => list(1), func])()}${predicates(["before", "after", "on", "during", "by"])}`,
  () => `${space()}${words("changed")}${predicates(["before", "after", "on", "during", "by", "from", "to"])}`,
])()}`;
const not = () => (chance(0.5) ? `!${gap()}` : `${inCase("not")}${space()}`);
const and = () => (chance(0.2) ? `${gap()}${pick(["&", "&&"])}${gap()}` : `${space()}${inCase("and")}${space()}`);
const or = () => (chance(0.2) ? `${gap()}${pick(["|", "||"])}${gap()}` : `${space()}${inCase("or")}${space()}`);
function condition(depth) {
  if (depth <= 0) return clause();
  const part = () => (chance(0.2) ? not() : "") + (chance(0.4) ? `(${gap()}${condition(depth - 1)}${gap()})` : clause());
  let made = part();
  for (let more = below(4); more > 0; more--) made += (chance(0.5) ? and() : or()) + part();
  return made;
}
const sort = () => `${field()}${chance(0.6) ? space() + inCase(pick(["asc", "desc"])) : ""}`;
const order = () => `${words("order by")}${space()}${times(1 + below(3), sort).join(`${gap()},${gap()}`)}`;
const whole = () => [chance(0.93) ? condition(below(4)) : "", chance(0.25) ? order() : ""].filter(Boolean).join(space());
const scraps = [
  "(", ")", "[", "]", ",", "!", "=", "<", ">", "~", "&", "|", "\"", "'", "\\", " ", "\n", "\t", "#", "*", "?", "\u0001", "\u0085", "\u00a0", "\ufdd0", "\uffff", "\\u12", "\\x", "-", "1", "a",
  " and ", " or ", " not ", " in ", " is ", " was ", " empty ", " changed ", " order by ", " by ", " on ", " asc ", " select ", " cf ", "cf[1]", "f()", "()", ",,",
];
function broken(made) {
  const at = below(made.length + 1);
  const end = Math.min(made.length, at + 1 + below(4));
  const from = below(made.length + 1);
  const changed = pick([
    () => made.slice(0, at) + pick(scraps) + made.slice(at), () => made.slice(0, at) + made.slice(end), () => made.slice(0, at),
    () => made.slice(0, at) + made.slice(from, from + below(12)) + made.slice(at), () => made.slice(at),
    () => made.slice(0, at) + String.fromCodePoint(pick([below(0x100), below(0xd800), 0xfd00 + below(0x300), below(0x20000) + 0x10000])) + made.slice(at),
  ])();
  return changed.isWellFormed() ? changed : made;
}
function deep() {
  const n = 10 + below(300);
  return pick([() => "(".repeat(n) + clause() + ")".repeat(n), () => "!".repeat(n) + clause(), () => `a in ${"(".repeat(n)}1${")".repeat(n)}`])();
}
function question() {
  let made = chance(0.002) ? deep() : whole();
  if (chance(0.4)) for (let more = 1 + below(3); more > 0; more--) made = broken(made);
  return made;
}
/** Each reserved word and keyword, as field and as value, and words that are nearly one. */
const everyWord = () => [...reserved, ...keywords].flatMap((word) => [word, word.toUpperCase(), `${word}s`, word.slice(0, -1), `x${word}`, `"${word}"`].flatMap((it) => [`${it} = 1`, `a = ${it}`, `a = ${it}()`, `order by ${it}`]));

// -- the package --
function accepts(query) {
  const lexer = new JQLLexer(CharStreams.fromString(query));
  lexer.removeErrorListeners();
  const parser = new JQLParser(new CommonTokenStream(lexer));
  parser.removeErrorListeners();
  parser.jqlQuery();
  return parser.numberOfSyntaxErrors === 0;
}
/** What a string says: its escapes are resolved everywhere, which the package does in quotes only, and there without n, r, t, u. */
function said(text) {
  const inner = /^["']/.test(text) ? text.slice(1, -1) : text;
  const read = inner.replace(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, it) => (it.length > 1 ? String.fromCharCode(parseInt(it.slice(1), 16)) : ({ n: "\n", r: "\r", t: "\t" }[it] ?? it)));
  const characters = read.toWellFormed();
  return inner.includes("\\u") ? characters.replaceAll("\0", "\ufffd") : characters;
}
const word = (it) => [it.text, said(it.text), it.position];
const flat = (values) => values.flatMap((it) => (it.operandType === "list" ? flat(it.values) : [it]));
function theirOperand(it) {
  if (it === undefined) return null;
  if (it.operandType === "keyword") return { empty: it.position };
  if (it.operandType === "value") return word(it);
  if (it.operandType === "function") return { function: word(it.function), arguments: it.arguments.map(word), at: it.position };
  // Lists in lists are read as one list.
  return { list: flat(it.values).map(theirOperand), at: it.position };
}
function theirField(it) {
  const properties = (it.properties ?? []).map((one) => [word(one.key), one.path.map(word), one.position]);
  const isCustom = /^cf\s*\[/i.test(it.text);
  const end = properties.length > 0 ? null : it.position[1];
  return [isCustom ? [it.text, null, it.position] : [it.text, said(it.text), [it.position[0], end]], properties, it.position];
}
const clauses = (it) => (it.clauseType === "compound" ? it.clauses : it.clauseType === "not" ? [it.clause] : []);
function theirNodes(root) {
  const nodes = [];
  const add = (it) => {
    const parts = clauses(it).map(add);
    if (it.clauseType === "compound") nodes.push([it.operator.value, it.position, parts]);
    else if (it.clauseType === "not") nodes.push(["not", it.position, parts]);
    else nodes.push(["clause", it.position, {
      field: theirField(it.field),
      operator: [it.operator.value, it.operator.position],
      operand: theirOperand(it.operand),
      predicates: it.predicates.map((one) => [one.operator.value, theirOperand(one.operand), one.position]),
    }]);
    return nodes.length - 1;
  };
  return { nodes, root: root ? add(root) : null };
}
function theirTree(query) {
  const { query: made, errors } = new JastBuilder().build(query);
  if (errors.length > 0) return { error: errors[0].message };
  const order = (made.orderBy?.fields ?? []).map((it) => [theirField(it.field), it.direction?.value.toLowerCase() ?? null, it.position]);
  return { ...theirNodes(made.where), order };
}
/** Where a field has properties, the package has no place of its name alone. */
const namesWithoutEnd = (_, it) => (Array.isArray(it) && it.length === 3 && Array.isArray(it[1]) && it[1].length > 0 && Array.isArray(it[0]) && it[0].length === 3 && Array.isArray(it[0][2]) ? [[it[0][0], it[0][1], [it[0][2][0], null]], it[1], it[2]] : it);
const known = (tree) => JSON.parse(JSON.stringify(tree, namesWithoutEnd));
const same = (mine, other) => isDeepStrictEqual(known(mine), known(other));

function ours(questions) {
  const { status, stdout, stderr } = spawnSync(driver, ["jql"], { input: questions.map((it) => JSON.stringify(it)).join("\n") + "\n", encoding: "utf8", maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`the program ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

const seen = { asked: 0, accepted: 0, trees: 0, words: 0, faults: 0 };
function report(query, mine, other) {
  seen.faults += 1;
  if (seen.faults <= 10) console.error(`${JSON.stringify(query)}\n  ours   ${JSON.stringify(mine)}\n  theirs ${JSON.stringify(other)}`);
}
function ask(questions) {
  ours(questions).forEach((mine, at) => {
    const accepted = accepts(questions[at]);
    seen.asked += 1;
    if (accepted) seen.accepted += 1;
    if (accepted !== !("error" in mine)) return report(questions[at], mine, accepted);
    if (!accepted || seen.trees >= Number(trees)) return;
    seen.trees += 1;
    const other = theirTree(questions[at]);
    if (!same(mine, other)) report(questions[at], mine, other);
  });
}
ask(everyWord());
[seen.words, seen.trees] = [seen.asked, 0];
for (let left = Number(count); left > 0; left -= 5000) ask(times(Math.min(left, 5000), question));
console.log(`${seen.asked - seen.words} queries and ${seen.words} with words of the language (${seen.accepted} accepted), ${seen.trees} trees, ${seen.faults} differences`);
process.exit(seen.faults === 0 ? 0 : 1);
