//! First and later starts, and starts that are refused.

use super::{launch, nobody_listens};
use crate::harness::{Client, Socket, wait_until_ready};

#[tokio::test]
async fn the_first_start_prints_a_token_that_works_and_a_later_one_prints_none() {
    let (_folder, launch) = launch();
    let first = launch.start();
    let token = first.owner_token.clone().expect("the owner's token");
    let orgs = first.client().with_token(&token).get("/v1/orgs").send().await.expect(200);
    assert_eq!(orgs.list("/orgs").len(), 1, "{}", orgs.text);
    first.kill();
    let second = launch.start();
    assert_eq!(second.owner_token, None);
    second.client().with_token(&token).get("/v1/me").send().await.expect(200);
}

#[tokio::test]
async fn the_owner_may_look_after_the_platform() {
    let (_folder, launch) = launch();
    let process = launch.set("setup.owner_email=chief@example.com").set("setup.organization_name=Headquarters").start();
    let owner = process.client().with_token(process.owner_token.as_deref().expect("the owner's token"));
    assert_eq!(owner.get("/v1/me").send().await.expect(200).str("/user/email"), "chief@example.com");
    let orgs = owner.get("/v1/orgs").send().await.expect(200);
    assert_eq!((orgs.str("/orgs/0/name"), orgs.str("/orgs/0/kind")), ("Headquarters", "platform"));
    assert_eq!(orgs.str("/orgs/0/role"), "owner");
}

#[tokio::test]
async fn operators_see_that_it_is_ready() {
    let (_folder, launch) = launch();
    let process = launch.start();
    wait_until_ready(&process.operators_url);
    let metrics = Client::new(&process.operators_url).get("/metrics").send().await.expect(200);
    assert!(metrics.text.contains("troupe_actor_resident"), "{}", metrics.text);
}

#[test]
fn it_stops_in_order_from_the_moment_on_that_it_is_up() {
    let (_folder, launch) = launch();
    for _ in 0..5 {
        assert_eq!(launch.start().terminate(), Some(0));
    }
}

#[test]
fn the_program_tells_its_version() {
    let (_folder, launch) = launch();
    assert_eq!(launch.run(&["--version"]), (0, format!("troupe {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn an_unknown_setting_stops_every_command_and_is_named() {
    let (_folder, launch) = launch();
    let launch = launch.set("vault.max_itms=1");
    for command in ["serve", "migrate", "doctor"] {
        let (status, text) = launch.run(&[command]);
        assert_eq!(status, 1, "{text}");
        assert!(text.contains("`vault.max_itms`"), "{text}");
    }
}

#[test]
fn settings_that_contradict_each_other_stop_the_start() {
    let (_folder, launch) = launch();
    let (status, text) = launch.set("blobs.kind=s3").run(&["serve"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("blobs.bucket"), "{text}");
}

#[test]
fn a_database_that_does_not_answer_stops_the_start_in_words() {
    let (_folder, launch) = launch();
    let launch = launch.set(format!("database.url=postgres://nobody@{}/nothing", nobody_listens()));
    let (status, text) = launch.run(&["serve"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("troupe doctor") && !text.contains("panicked"), "{text}");
}

#[test]
fn an_address_in_use_stops_the_start_in_words() {
    let (_folder, launch) = launch();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address");
    let (status, text) = launch.set(format!("server.listen={address}")).run(&["serve"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("listen") && !text.contains("panicked"), "{text}");
}

#[test]
fn a_node_that_must_not_migrate_refuses_to_start_until_somebody_has() {
    let (_folder, launch) = launch();
    let launch = launch.set("database.migrate_at_start=false");
    let (status, text) = launch.run(&["serve"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("troupe migrate"), "{text}");
    let (status, text) = launch.run(&["migrate"]);
    assert_eq!(status, 0, "{text}");
    let (status, text) = launch.run(&["migrate"]);
    assert_eq!(status, 0, "again does no harm: {text}");
    launch.start();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_told_to_stop_ends_in_order() {
    let (_folder, launch) = launch();
    let process = launch.set("shutdown.grace=30s").start();
    let ada = process.client().with_authenticator("ada").await;
    let mut socket = Socket::live(&ada, 0).await;
    let stopping = tokio::task::spawn_blocking(|| process.terminate());
    assert_eq!(socket.closed().await, Some(1012));
    drop(socket);
    assert_eq!(stopping.await.expect("a status"), Some(0));
}
