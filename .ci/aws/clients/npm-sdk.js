// npm's @aws-sdk/client-s3 with its default checksums, lib-storage, and what makes presigned addresses.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import * as s3 from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'

const Bucket = process.env.BUCKET
const client = new s3.S3Client({ forcePathStyle: true })
const send = (Command, input) => client.send(new s3[`${Command}Command`]({ Bucket, ...input }))
const read = async input => Buffer.from(await (await send('GetObject', input)).Body.transformToByteArray())
const code = async sent => { try { await sent } catch (error) { return error.name } }

await send('CreateBucket')
await s3.waitUntilBucketExists({ client, maxWaitTime: 10 }, { Bucket })

const put = await send('PutObject', { Key: 'a b/ü+%', Body: 'hello', Metadata: { season: 'winter' } })
assert.equal(put.ChecksumCRC32, 'NhCmhg==')
const head = await send('HeadObject', { Key: 'a b/ü+%', ChecksumMode: 'ENABLED' })
assert.deepEqual([head.ChecksumCRC32, head.Metadata, head.ContentLength], ['NhCmhg==', { season: 'winter' }, 5])
assert.equal((await read({ Key: 'a b/ü+%' })).toString(), 'hello')
for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256']) {
  if (algorithm === 'CRC64NVME') continue // Its implementation is a package of its own.
  const sent = await send('PutObject', { Key: algorithm, Body: 'hello', ChecksumAlgorithm: algorithm })
  const kept = await send('HeadObject', { Key: algorithm, ChecksumMode: 'ENABLED' })
  assert.ok(kept[`Checksum${algorithm}`])
  assert.equal(kept[`Checksum${algorithm}`], sent[`Checksum${algorithm}`])
}
// A stream of known length: its checksum can only follow it.
const stream = Readable.from([Buffer.alloc(70_000, 1), Buffer.alloc(70_000, 2)])
await send('PutObject', { Key: 'streamed', Body: stream, ContentLength: 140_000 })
assert.deepEqual(await read({ Key: 'streamed' }), Buffer.concat([Buffer.alloc(70_000, 1), Buffer.alloc(70_000, 2)]))

const large = randomBytes(17_000_000)
await new Upload({ client, params: { Bucket, Key: 'large', Body: Readable.from([large]) }, partSize: 5 << 20 }).done()
assert.ok((await read({ Key: 'large' })).equals(large))
assert.ok((await read({ Key: 'large', Range: 'bytes=16000000-16000009' })).equals(large.subarray(16_000_000, 16_000_010)))
const attributes = await send('GetObjectAttributes', { Key: 'large', ObjectAttributes: ['ObjectSize', 'ObjectParts', 'Checksum', 'ETag'] })
assert.deepEqual([attributes.ObjectSize, attributes.ObjectParts.TotalPartsCount], [17_000_000, 4])
await send('CopyObject', { Key: 'copy', CopySource: `${Bucket}/large` })
assert.ok((await read({ Key: 'copy' })).equals(large))

for (let number = 10; number < 35; number++) await send('PutObject', { Key: `many/${number}`, Body: 'x' })
const keys = []
for await (const page of s3.paginateListObjectsV2({ client, pageSize: 7 }, { Bucket, Prefix: 'many/' })) {
  keys.push(...page.Contents.map(it => it.Key))
}
assert.deepEqual(keys, Array.from({ length: 25 }, (_, number) => `many/${number + 10}`))
const { CommonPrefixes } = await send('ListObjectsV2', { Delimiter: '/' })
assert.deepEqual(CommonPrefixes.map(it => it.Prefix), ['a b/', 'many/'])

const url = await getSignedUrl(client, new s3.GetObjectCommand({ Bucket, Key: 'large' }), { expiresIn: 60 })
assert.ok(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(large))
const to = await getSignedUrl(client, new s3.PutObjectCommand({ Bucket, Key: 'presigned' }), { expiresIn: 60 })
assert.equal((await fetch(to, { method: 'PUT', body: 'from afar' })).status, 200)
assert.equal((await read({ Key: 'presigned' })).toString(), 'from afar')

assert.equal(await code(send('GetObject', { Key: 'none' })), 'NoSuchKey')
assert.equal(await code(send('PutObject', { Key: 'copy', Body: 'x', IfNoneMatch: '*' })), 'PreconditionFailed')
assert.equal(await code(send('DeleteBucket')), 'BucketNotEmpty')
const { Contents } = await send('ListObjectsV2')
const deleted = await send('DeleteObjects', { Delete: { Objects: Contents.map(it => ({ Key: it.Key })) } })
assert.deepEqual([deleted.Deleted.length, deleted.Errors], [Contents.length, undefined])
await send('DeleteBucket')
