// Bundles the page's script into http/src/co_editing/, from where the program serves it: `npm ci && npm run build`. Markup and
// style are served as they stand in src/.

import { build } from 'esbuild'
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const served = join(here, '../../../http/src/co_editing')

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.js'],
  bundle: true,
  minify: true,
  format: 'iife',
  target: ['es2022'],
  legalComments: 'none',
  charset: 'ascii',
  metafile: true,
  write: false
})

/** The licence of every package that is part of the bundle. */
const packages = new Set(Object.keys(metafile.inputs).flatMap(path =>
  /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []))
const notices = [...packages].sort().map(name => {
  const folder = join(here, 'node_modules', name)
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find(name => /^licen[cs]e/i.test(name))
  if (!file) throw new Error(`${name} has no licence file`)
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}`
})
const licences = notices.join('\n\n----\n\n').replaceAll('*/', '* /')

const bundled = `${outputFiles[0].text}/*! In this script:\n\n${licences}\n*/\n`
// It stands inside a <script>, whose end and whose comments HTML looks for even in strings.
const script = bundled.replaceAll('<!--', '<\\x21--')
if (/<\/script|<!--/i.test(script)) throw new Error('the bundle would end its own <script>')
writeFileSync(join(served, 'editor.js'), script)
console.log(`${script.length} bytes, ${packages.size} packages`)
