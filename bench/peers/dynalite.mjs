// dynalite as its own command starts it, on a folder: LevelDB, without fsync.
import dynalite from 'dynalite'
import { attend } from './attend.mjs'

const server = dynalite({ path: process.argv[2], createTableMs: 50 })
server.listen(0, '127.0.0.1', () => attend(server.address().port))
