//! Uploads in parts.

use super::{Shop, element, elements, header, refused};

const MIB: usize = 1_024 * 1_024;

impl Shop {
    async fn begin(&self, key: &str) -> String {
        let begun = self.post(format!("/files/{key}?uploads")).send().await.expect(200);
        element(&begun, "UploadId").to_owned()
    }

    async fn part(&self, key: &str, id: &str, number: u32, bytes: Vec<u8>) -> String {
        let target = format!("/files/{key}?partNumber={number}&uploadId={id}");
        header(&self.put(target).body(bytes).send().await.expect(200), "etag").to_owned()
    }
}

fn completion(parts: &[(u32, &str)]) -> String {
    let part =
        |(number, etag): &(u32, &str)| format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>");
    format!("<CompleteMultipartUpload>{}</CompleteMultipartUpload>", parts.iter().map(part).collect::<String>())
}

#[tokio::test]
async fn parts_become_a_file_that_reads_by_part() {
    let shop = Shop::new().await;
    let id = shop.begin("large").await;
    let (one, two) =
        (shop.part("large", &id, 1, vec![b'a'; 5 * MIB]).await, shop.part("large", &id, 3, vec![b'b'; 10]).await);
    let listed = shop.get(format!("/files/large?uploadId={id}")).send().await.expect(200);
    assert_eq!(elements(&listed, "PartNumber"), ["1", "3"]);
    let target = format!("/files/large?uploadId={id}");
    let done = shop.post(&target).body(completion(&[(1, &one), (3, &two)])).send().await.expect(200);
    assert!(element(&done, "ETag").contains("-2"), "{}", done.text);
    let got = shop.get("/files/large").send().await.expect(200);
    assert_eq!(got.bytes.len(), 5 * MIB + 10);
    let part = shop.get("/files/large?partNumber=2").send().await.expect(206);
    assert_eq!((part.text.as_str(), header(&part, "x-amz-mp-parts-count")), ("bbbbbbbbbb", "2"));
    assert_eq!(shop.get("/files/large?partNumber=3").send().await.status, 416);
    let about = shop
        .get("/files/large?attributes")
        .header("x-amz-object-attributes", "ObjectParts,ObjectSize,ETag")
        .send()
        .await;
    let about = about.expect(200);
    assert_eq!((element(&about, "PartsCount"), element(&about, "ObjectSize")), ("2", "5242890"));
    let again = shop.post(&target).body(completion(&[(1, &one), (3, &two)])).send().await.expect(200);
    assert_eq!(element(&again, "ETag"), element(&done, "ETag"));
}

#[tokio::test]
async fn parts_that_do_not_fit_are_refused() {
    let shop = Shop::new().await;
    let id = shop.begin("p").await;
    let target = format!("/files/p?uploadId={id}");
    let (one, two) = (shop.part("p", &id, 1, vec![1; 10]).await, shop.part("p", &id, 2, vec![2; 10]).await);
    let complete = |parts: String| shop.post(&target).body(parts).send();
    refused(&complete(completion(&[(1, &one), (2, &two)])).await, 400, "EntityTooSmall");
    refused(&complete(completion(&[(2, &two), (1, &one)])).await, 400, "InvalidPartOrder");
    refused(&complete(completion(&[(1, "\"0\"")])).await, 400, "InvalidPart");
    refused(&complete(completion(&[(3, &one)])).await, 400, "InvalidPart");
    refused(&complete(completion(&[])).await, 400, "MalformedXML");
    let parts: Vec<_> = (1..=10_001).map(|at| (at, "x")).collect();
    refused(&complete(completion(&parts)).await, 400, "MalformedXML");
    for number in ["0", "10001", "-1"] {
        let sent = shop.put(format!("/files/p?partNumber={number}&uploadId={id}")).body("x").send().await;
        refused(&sent, 400, "InvalidArgument");
    }
    let other = shop.put(format!("/files/other?partNumber=1&uploadId={id}")).body("x").send().await;
    refused(&other, 404, "NoSuchUpload");
    shop.file("p", "there").await;
    let held = shop.post(&target).header("if-none-match", "*").body(completion(&[(1, &one)])).send().await;
    refused(&held, 412, "PreconditionFailed");
    shop.delete(&target).send().await.expect(204);
    refused(&shop.delete(&target).send().await, 404, "NoSuchUpload");
    assert_eq!(shop.get("/files/p").send().await.text, "there");
}

#[tokio::test]
async fn a_file_in_parts_has_the_checksum_that_was_planned() {
    let shop = Shop::new().await;
    let begun = shop
        .post("/files/s?uploads")
        .header("x-amz-checksum-algorithm", "CRC32")
        .header("x-amz-checksum-type", "FULL_OBJECT");
    let id = element(&begun.send().await.expect(200), "UploadId").to_owned();
    let target = format!("/files/s?partNumber=1&uploadId={id}");
    let sent = shop.put(&target).header("x-amz-checksum-crc32", "y/Q5Jg==").body("123456789").send().await.expect(200);
    let mismatch =
        shop.put(&target).header("x-amz-checksum-sha1", "98O8HYCOBHMq32eZZczDTKeuNEE=").body("123456789").send().await;
    refused(&mismatch, 400, "InvalidRequest");
    let target = format!("/files/s?uploadId={id}");
    let parts = completion(&[(1, header(&sent, "etag"))]);
    let wrong = shop.post(&target).header("x-amz-checksum-crc32", "AAAAAA==").body(parts.clone()).send().await;
    refused(&wrong, 400, "BadDigest");
    let done = shop.post(&target).body(parts).send().await.expect(200);
    assert_eq!((element(&done, "ChecksumCRC32"), element(&done, "ChecksumType")), ("y/Q5Jg==", "FULL_OBJECT"));
    let head = shop.call("HEAD", "/files/s").header("x-amz-checksum-mode", "ENABLED").send().await.expect(200);
    assert_eq!(header(&head, "x-amz-checksum-crc32"), "y/Q5Jg==");
}
