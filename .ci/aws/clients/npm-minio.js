// npm's minio.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { Client, CopyDestinationOptions, CopySourceOptions } from 'minio'

const bucket = process.env.BUCKET
const endpoint = new URL(process.env.AWS_ENDPOINT_URL_S3)
const client = new Client({
  endPoint: endpoint.hostname,
  port: Number(endpoint.port),
  useSSL: endpoint.protocol === 'https:',
  accessKey: process.env.AWS_ACCESS_KEY_ID,
  secretKey: process.env.AWS_SECRET_ACCESS_KEY,
  partSize: 5 << 20
})
const read = async key => buffer(await client.getObject(bucket, key))
const list = async (prefix, recursive) => {
  const names = []
  for await (const { name, prefix: folder } of client.listObjectsV2(bucket, prefix, recursive)) names.push(name ?? folder)
  return names.sort()
}

await client.makeBucket(bucket)
assert.equal(await client.bucketExists(bucket), true)
assert.equal(await client.bucketExists(`${bucket}-not`), false)
await client.putObject(bucket, 'a b/ü+%', 'hello', 5, { 'Content-Type': 'text/plain', 'X-Amz-Meta-Season': 'winter' })
assert.equal((await read('a b/ü+%')).toString(), 'hello')
const found = await client.statObject(bucket, 'a b/ü+%')
assert.deepEqual([found.size, found.metaData['content-type'], found.metaData.season], [5, 'text/plain', 'winter'])

const large = randomBytes(12_000_000)
await client.putObject(bucket, 'large', Readable.from([large]))
assert.ok((await read('large')).equals(large))
const part = await buffer(await client.getPartialObject(bucket, 'large', 7_000_000, 10))
assert.ok(part.equals(large.subarray(7_000_000, 7_000_010)))
await client.copyObject(new CopySourceOptions({ Bucket: bucket, Object: 'large' }), new CopyDestinationOptions({ Bucket: bucket, Object: 'copy' }))
assert.ok((await read('copy')).equals(large))
assert.deepEqual(await list('', false), ['a b/', 'copy', 'large'])

const url = await client.presignedGetObject(bucket, 'large', 60)
assert.ok(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(large))
const policy = client.newPostPolicy()
policy.setBucket(bucket)
policy.setKey('posted')
policy.setExpires(new Date(Date.now() + 60_000))
policy.setContentLengthRange(1, 1000)
const { postURL, formData } = await client.presignedPostPolicy(policy)
const form = new FormData()
for (const [name, value] of Object.entries(formData)) form.append(name, value)
form.append('file', new Blob(['from a form']))
assert.ok((await fetch(postURL, { method: 'POST', body: form })).ok)
assert.equal((await read('posted')).toString(), 'from a form')

await client.setObjectTagging(bucket, 'copy', { colour: 'red' })
assert.deepEqual(await client.getObjectTagging(bucket, 'copy'), [{ Key: 'colour', Value: 'red' }])
await client.removeObjects(bucket, await list('', true))
assert.deepEqual(await list('', true), [])
await client.removeBucket(bucket)
