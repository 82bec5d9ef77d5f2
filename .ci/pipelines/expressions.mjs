// Random expressions over random contexts: what npm's @actions/expressions makes of them, and what the program does.
//
//     node expressions.mjs DRIVER COUNT [SEED]
//
// Same kind, same text, error or not. Where the package is known to be wrong (docs/decisions/pipelines.md) it is either mended
// here, and the two must then be equal, or the case stands in `named` with what each of the two says.
import { spawnSync } from "node:child_process";
import { Lexer, Parser, Evaluator, data } from "@actions/expressions";
import { TokenType } from "@actions/expressions/lexer";

const [driver, count = "5000", seed = "1"] = process.argv.slice(2);

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

// -- values and contexts --
const words = [
  "", "a", "A", "ab", "abc", "main", "refs/heads/main", "Straße", "STRASSE", "ı", "I", "i", "İ", "é", "🎉", "\u{e000}", "\u{10000}", "ΑΣ", "ας",
  "true", "false", "null", "NaN", "Infinity", "-Infinity", "0", "-0", "1", "1.0", " 1 ", "\t1\n", "0x1F", "0o17", "0b11", "-0x1", "1e3", "1e",
  ".5", "5.", "+3", "1_000", "1e21", "1e-7", "0.1", "\u00a0", "\ufeff2", "\u0085", "{0}", "{{", "}}", "{1}x{0}", "{", "a}b", "{0:x}", "{99999999999}",
  "it's", "''", "a''b", "[1,2]", '{"a":1}', '{"a":{"b":[1,null]}}', '{"a":1,"A":2,"a":3}', '"text"', "[", "1 2", "nul", '["a","b"]', "\\u0041",
  '"\\u00e9\\n"', '"\t"', "01", "-", "1.", "1e5", "1E+2", "[1,]", "{,}", "[[],{}]", "object", "array", "Array", "Object", "job.one", "a-b", "_x",
  '[{"name":"a","n":1},{"name":"b","n":2},{"Name":"c"}]', "line\nline", 'quote"d', "\u0001\u007f", "a,b", "z", "Z", "_", "[",
];
const numbers = [
  0, -0, 1, -1, 2, 3, 0.5, 0.1, 0.2, 0.30000000000000004, 1e21, 1e20, 123456789012345680000, 1e-7, 1.5e-7, 5e-324, 1e308, 4e-16, 0.000015258789062500,
  1 / 3, 2 / 3, 100, 255, 31, 1e15, 9007199254740993, 0.1234567890123456, 1.0000000000000002, 4294967296, 1e100, 123456.789e-10,
];
const names = ["a", "A", "b", "ab", "name", "Name", "n", "ref", "sha", "event", "true", "null", "a-b", "_x", "os", "é", "list", "outputs", "result", "with space"];
function number() {
  return chance(0.7) ? pick(numbers) : pick([
    () => below(1000) - 500, () => (random() - 0.5) * 10 ** (below(40) - 20), () => below(1e6) / 65536, () => below(1e9) / 2 ** below(40),
  ])();
}
function value(depth) {
  const kind = below(depth > 0 ? 9 : 6);
  if (kind === 0) return null;
  if (kind === 1) return chance(0.5);
  if (kind === 2) return number();
  if (kind < 6) return pick(words);
  if (kind === 6) return times(below(4), () => value(depth - 1));
  return Object.fromEntries(times(below(5), () => [pick(names), value(depth - 1)]));
}
const contextNames = ["github", "env", "vars", "job", "steps", "runner", "secrets", "strategy", "matrix", "needs", "inputs"];
const contexts = () => Object.fromEntries(contextNames.map((name) => [name, chance(0.85) ? Object.fromEntries(times(1 + below(5), () => [pick(names), value(3)])) : value(2)]));

// -- expressions --
const quoted = (text) => `'${text.replaceAll("'", "''")}'`;
const inCase = (name) => (chance(0.1) ? name.toUpperCase() : name);
const space = () => (chance(0.1) ? pick([" ", "  ", "\n", "\t", "\r"]) : "");
const literal = () => pick([
  () => quoted(pick(words)), () => quoted(pick(words)), () => quoted(pick(words)), () => pick(["true", "false", "null", "NaN", "Infinity", "-Infinity"]),
  () => String(number()), () => pick(["0x1F", "0o7", "0b1", "+1", "-1", ".5", "5.", "1e3", "1.5e-7"]),
])();
function looked(depth) {
  let text = chance(0.85) ? inCase(pick(contextNames)) : chance(0.5) ? `(${expression(depth - 1)})` : `fromJSON(${quoted(pick(words))})`;
  for (let more = below(4); more > 0; more--) {
    text += pick([
      () => `.${pick(names)}`, () => `.${pick(names)}`, () => ".*", () => "[*]", () => `[${quoted(pick(names))}]`, () => `[${below(4)}]`, () => `[${expression(depth - 2)}]`,
    ])();
  }
  return text;
}
function called(depth) {
  const argument = () => expression(depth - 1);
  const [name, min, max] = pick([
    ["contains", 2, 2], ["startsWith", 2, 2], ["endsWith", 2, 2], ["format", 1, 4], ["join", 1, 2], ["toJSON", 1, 1], ["fromJSON", 1, 1], ["case", 3, 5],
    ["success", 0, 0], ["failure", 0, 1], ["always", 0, 0], ["cancelled", 0, 0], ["hashFiles", 1, 3],
  ]);
  let arguments_ = times(chance(0.03) ? below(6) : min + below(max - min + 1), argument);
  if (name === "format" && chance(0.8)) arguments_[0] = quoted(pick(["{0}", "{0}-{1}", "a{0}b", "{{{0}}}", "{0}{0}", "{2}", "x", "{0:5}", "{ 0}", "}}{{", "{0"]));
  if (name === "case" && chance(0.8)) for (let at = 0; at + 1 < arguments_.length; at += 2) arguments_[at] = `${argument()} == ${argument()}`;
  if (name === "fromJSON" && chance(0.6)) arguments_ = [chance(0.5) ? quoted(JSON.stringify(value(3))) : `toJSON(${argument()})`];
  return `${inCase(name)}(${space()}${arguments_.join(chance(0.5) ? "," : ", ")}${chance(0.02) ? "," : ""})`;
}
function expression(depth) {
  if (depth <= 0) return literal();
  const operand = () => (chance(0.3) ? literal() : expression(depth - 1));
  return pick([
    literal, () => looked(depth), () => looked(depth), () => looked(depth), () => called(depth), () => called(depth), () => called(depth),
    () => `!${space()}${operand()}`, () => `(${operand()})`,
    () => `${operand()} ${pick(["==", "!=", "<", "<=", ">", ">="])} ${operand()}`, () => `${operand()}${pick(["==", "!=", "<", "<=", ">", ">="])}${space()}${operand()}`,
    () => times(2 + below(2), operand).join(pick([" && ", "&&"])), () => times(2 + below(2), operand).join(pick([" || ", "||"])),
  ])();
}
const scraps = ["(", ")", "[", "]", ",", ".", "*", "!", "=", "&", "|", "'", "''", "-", "+", "$", "{", "#", " ", "\n", "\u00a0", "\u0085", "é", "1", "a", "true", "x.", "\\", '"', "1a", "0x", "..", "**"];
function broken(text) {
  const at = below(text.length + 1);
  const end = Math.min(text.length, at + 1 + below(4));
  const changed = pick([() => text.slice(0, at) + pick(scraps) + text.slice(at), () => text.slice(0, at) + text.slice(end), () => text.slice(0, at)])();
  return changed.isWellFormed() ? changed : text;
}
function deep() {
  const n = 40 + below(20);
  const inner = expression(1);
  return pick([
    () => "!".repeat(n) + inner, () => "(".repeat(n) + inner + ")".repeat(n), () => "format('{0}',".repeat(n) + inner + ")".repeat(n),
    () => "github" + ".a".repeat(n), () => "github" + "[0]".repeat(n), () => "github[".repeat(n) + "0" + "]".repeat(n), () => "(1&&".repeat(n / 2) + "1" + ")".repeat(n / 2),
    () => times(2000, () => "1").join(pick(["==", "&&", "||", "<", "!="])), () => quoted("x".repeat(20990 + below(20))),
  ])();
}
function question() {
  const text = chance(0.01) ? deep() : expression(1 + below(4));
  return { expression: chance(0.15) ? broken(text) : text, contexts: JSON.stringify(contexts()) };
}

// -- the package --
const kinds = { [data.Kind.Null]: "Null", [data.Kind.Boolean]: "Boolean", [data.Kind.Number]: "Number", [data.Kind.String]: "String", [data.Kind.Array]: "Array", [data.Kind.Dictionary]: "Object" };
const functions = [
  { name: "success", minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(true) },
  { name: "failure", minArgs: 0, maxArgs: Number.MAX_SAFE_INTEGER, call: () => new data.BooleanData(false) },
  { name: "always", minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(true) },
  { name: "cancelled", minArgs: 0, maxArgs: 0, call: () => new data.BooleanData(false) },
  { name: "hashFiles", minArgs: 1, maxArgs: 255, call: (...patterns) => new data.StringData(patterns.map((it) => it.coerceString()).join("|")) },
];
const functionsByName = new Map(functions.map((it) => [it.name.toLowerCase(), it]));

/** Takes two quotes for one everywhere in a text, where the package does so once. */
class MendedLexer extends Lexer {
  addToken(type, text) {
    super.addToken(type, type === TokenType.STRING ? this.input.substring(this.start + 1, this.offset - 1).replaceAll("''", "'") : text);
  }
}
function theirs(asked, mended) {
  try {
    const { tokens } = new (mended ? MendedLexer : Lexer)(asked.expression).lex();
    const tree = new Parser(tokens, contextNames, functions).parse();
    const found = new Evaluator(tree, JSON.parse(asked.contexts, data.reviver), functionsByName).evaluate();
    return { kind: kinds[found.kind], text: found.primitive ? found.coerceString() : JSON.stringify(found, data.replacer, "  ") };
  } catch (error) {
    return { error: String(error.message) };
  }
}
const alike = (one, other) => ("error" in one ? "error" in other : one.kind === other.kind && one.text === other.text);

function ours(questions) {
  const asked = questions.map((it) => JSON.stringify(it)).join("\n") + "\n";
  const { status, stdout, stderr } = spawnSync(driver, ["expressions"], { input: asked, encoding: "utf8", maxBuffer: 2 ** 30 });
  if (status !== 0) throw new Error(`the program ended with ${status}: ${stderr}`);
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

// -- what differs, and is meant to --
const none = JSON.stringify(Object.fromEntries(contextNames.map((name) => [name, {}])));
const named = [
  ["quotes", "'a''b''c'", { kind: "String", text: "a'b'c" }, { kind: "String", text: "a'b''c" }],
  ["names", `toJSON(fromJSON('{"b":0,"1":1}'))`, { kind: "String", text: '{\n  "b": 0,\n  "1": 1\n}' }, { kind: "String", text: '{\n  "1": 1,\n  "b": 0\n}' }],
  ["names", `fromJSON('{"constructor":1}').constructor`, { kind: "Number", text: "1" }, { kind: "Null", text: "" }],
  ["halves", `fromJSON('"\\ud800"') == ''`, { error: "" }, { kind: "Boolean", text: "false" }],
  ["limits", `fromJSON('${"[".repeat(101)}${"]".repeat(101)}') == 1`, { error: "" }, { kind: "Boolean", text: "false" }],
  ["limits", `format('${"{0}".repeat(1500)}', format('${"{0}".repeat(1500)}', 'abcdefghij')) == ''`, { error: "" }, { kind: "Boolean", text: "false" }],
];

let faults = 0;
function report(asked, mine, other) {
  faults += 1;
  if (faults <= 20) console.error(JSON.stringify({ ...asked, ours: mine, theirs: other }, null, 1).slice(0, 4000));
}
const listed = named.map(([, expression]) => ({ expression, contexts: none }));
ours(listed).forEach((mine, at) => {
  const other = theirs(listed[at], false);
  if (!alike(mine, named[at][2]) || !alike(other, named[at][3])) report(listed[at], mine, other);
});

const seen = { errors: 0, quotes: 0 };
for (let left = Number(count); left > 0; left -= 5000) {
  const questions = times(Math.min(left, 5000), question);
  ours(questions).forEach((mine, at) => {
    const other = theirs(questions[at], true);
    if ("error" in other) seen.errors += 1;
    if (!alike(other, theirs(questions[at], false))) seen.quotes += 1;
    if (!alike(mine, other)) report(questions[at], mine, other);
  });
}
console.log(`${count} expressions (${seen.errors} of them wrong), ${faults} differences; ${seen.quotes} only for the package's quotes`);
process.exit(faults === 0 ? 0 : 1);
