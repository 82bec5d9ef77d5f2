// Workflow files: what npm's @actions/workflow-parser finds wrong, and where, and what the program does.
//
//     node workflows.mjs DRIVER CASES…
//
// The cases stand in domain/src/pipelines/workflow/cases, each behind a line `=== name => what is wrong`, which the tests of the
// package hold the program to. Here the parser is held to the same, but where the line says ` | theirs` and what it finds.
import { readFileSync } from "node:fs";
import { ours, theirs } from "./judges.mjs";

const [driver, ...files] = process.argv.slice(2);

const cases = files.flatMap((file) =>
  readFileSync(file, "utf8").replace(/^=== /, "").split("\n=== ").map((it) => {
    const at = it.includes("\n") ? it.indexOf("\n") : it.length;
    const [name, expected] = it.slice(0, at).split(" => ");
    const [mine, other] = expected.split(" | theirs ");
    const text = it.slice(at + 1).replaceAll("␍", "\r").replaceAll("␉", "\t").replaceAll("␄", "\ufeff");
    return { name, mine, other: other ?? mine, text };
  }),
);
const found = ours(driver, cases.map((it) => it.text));
let faults = 0;
for (const [at, { name, mine, other, text }] of cases.entries()) {
  const [now, parsers] = [found[at], await theirs(text)];
  if (now === mine && parsers === other) continue;
  faults += 1;
  console.error(`${name}: ours ${now}, expected ${mine}; theirs ${parsers}, expected ${other}\n${text}`);
}
console.log(`${cases.length} workflow files, ${faults} differences; ${cases.filter((it) => it.mine !== it.other).length} that are meant to be`);
process.exit(faults === 0 ? 0 : 1);
