// s3rver as its own command starts it, on a folder, with one bucket.
import S3rver from 's3rver'
import { attend } from './attend.mjs'

const options = { address: '127.0.0.1', port: 0, silent: true, vhostBuckets: false, directory: process.argv[2] }
const server = new S3rver({ ...options, configureBuckets: [{ name: 'bench', configs: [] }] })
const { port } = await server.run()
attend(port)
