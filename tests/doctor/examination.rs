//! `troupe doctor`.

use super::{launch, nobody_listens};

#[test]
fn a_healthy_set_up_passes_before_the_first_start() {
    let (_folder, launch) = launch();
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 0, "{text}");
    for part in
        ["configuration", "data folder", "database", "blobs", "redis", "mail", "texts and calls", "push to browsers"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("WRONG"), "{text}");
}

#[test]
fn a_healthy_set_up_passes_beside_a_running_server() {
    let (_folder, launch) = launch();
    let _server = launch.start();
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("schema is current"), "{text}");
}

#[test]
fn a_database_that_does_not_answer_is_named_with_how_to_mend_it() {
    let (_folder, launch) = launch();
    let launch = launch.set(format!("database.url=postgres://nobody@{}/nothing", nobody_listens()));
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("PostgreSQL does not answer") && text.contains("`database.url`"), "{text}");
}

#[test]
fn a_redis_that_does_not_answer_is_named_with_how_to_mend_it() {
    let (_folder, launch) = launch();
    let (status, text) = launch.set(format!("redis.url=redis://{}", nobody_listens())).run(&["doctor"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("Redis does not answer") && text.contains("`redis.url`"), "{text}");
}

#[test]
fn a_mail_server_that_does_not_answer_is_named_with_how_to_mend_it() {
    let (_folder, launch) = launch();
    let address = nobody_listens();
    let launch = launch.set("mail.host=127.0.0.1").set(format!("mail.port={}", address.port())).set("mail.tls=none");
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("`mail.host`"), "{text}");
}

#[test]
fn a_place_for_blobs_that_is_none_is_named_with_how_to_mend_it() {
    let (folder, launch) = launch();
    let file = folder.path().join("a-file");
    std::fs::write(&file, "not a folder").expect("a file");
    let (status, text) = launch.set(format!("blobs.path={}", file.display())).run(&["doctor"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("blobs") && text.contains("a-file"), "{text}");
}

#[test]
fn a_password_in_an_address_is_not_printed() {
    let (_folder, launch) = launch();
    let launch = launch
        .set(format!("database.url=postgres://nobody:open-sesame@{}/nothing", nobody_listens()))
        .set(format!("redis.url=redis://:open-sesame@{}", nobody_listens()));
    let (_, text) = launch.run(&["doctor"]);
    assert!(!text.contains("open-sesame"), "{text}");
}

#[test]
fn a_provider_of_texts_that_does_not_answer_is_named_with_how_to_mend_it() {
    let (_folder, launch) = launch();
    let launch = launch
        .set(format!("texts.base_url=http://{}", nobody_listens()))
        .set("texts.account_sid=AC1")
        .set("texts.auth_token=open-sesame")
        .set("texts.from=+15005550006");
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("`texts.auth_token`") && !text.contains("open-sesame"), "{text}");
}

#[test]
fn a_key_that_can_not_be_read_or_used_is_named_with_how_to_mend_it() {
    let (folder, launch) = launch();
    let key = folder.path().join("web-push.pem");
    let launch = launch.set(format!("web_push.key_file={}", key.display())).set("web_push.contact=mailto:a@b.example");
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("`web_push.key_file`") && text.contains("web-push.pem"), "{text}");
    std::fs::write(&key, "no key").expect("a file");
    let (status, text) = launch.run(&["doctor"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("-----BEGIN PRIVATE KEY-----"), "{text}");
}
