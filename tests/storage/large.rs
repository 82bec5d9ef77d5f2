//! Files that are larger than what rows hold.

use super::Files;

/// Bytes that repeat only after a while.
fn bytes(len: usize) -> String {
    (0..len).map(|at| char::from(b'a' + u8::try_from(at * 7 % 25 + at / 1_000 % 2).unwrap())).collect()
}

#[tokio::test]
async fn files_around_what_a_row_holds_read_as_they_were_written() {
    let files = Files::new().await;
    for len in [0, 1, 32 * 1024 - 1, 32 * 1024, 32 * 1024 + 1, 300_000, 3 * 1024 * 1024 + 17] {
        let (key, text) = (format!("f{len}"), bytes(len));
        let put = files.try_put(&key, &text).await.expect(200);
        assert_eq!(put.int("/object/size"), i64::try_from(len).unwrap());
        let address = files.address(&key).await;
        assert!(files.fetch(&address, &[]).await.expect(200).text == text, "{len}");
        if len > 20 {
            let range = format!("bytes={}-{}", len / 2, len / 2 + 9);
            let part = files.fetch(&address, &[("range", &range)]).await.expect(206);
            assert_eq!(part.text, text[len / 2..len / 2 + 10], "{len}");
        }
    }
}

#[tokio::test]
async fn a_large_file_is_shared_by_its_versions_and_its_names() {
    let files = Files::versioned().await;
    let text = bytes(100_000);
    let first = files.put("a", &text).await;
    files.put("a", "small").await;
    files.restore("a", &first).await.expect(200);
    files.moves(serde_json::json!({ "files": [{ "from": "a", "to": "b" }] })).await.expect(200);
    files.delete_version("a", &first).await.expect(204);
    assert!(files.text("b").await == text);
    // A write that is refused leaves the file that is there.
    files.try_put("b", &bytes(200_000)).await.expect_error(409, "file_exists", "A file with this name already exists.");
    assert!(files.text("b").await == text);
}
