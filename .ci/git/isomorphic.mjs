// Clones, commits and pushes with isomorphic-git: isomorphic.mjs URL KEY FOLDER
import fs from 'node:fs'
import path from 'node:path'
import git from 'isomorphic-git'
import http from 'isomorphic-git/http/node'

const [url, key, dir] = process.argv.slice(2)
const asked = { fs, http, dir, url, onAuth: () => ({ username: 'anyone', password: key }) }
await git.clone(asked)
fs.writeFileSync(path.join(dir, 'isomorphic'), 'text of isomorphic-git\n')
await git.add({ fs, dir, filepath: 'isomorphic' })
const author = { name: 'Ada', email: 'ada@example.com' }
const oid = await git.commit({ fs, dir, message: 'By isomorphic-git', author })
const pushed = await git.push({ ...asked, ref: 'main', remoteRef: 'refs/heads/isomorphic' })
if (!pushed.ok) throw new Error(JSON.stringify(pushed))
console.log(oid)
