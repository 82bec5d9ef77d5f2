//! Uploads of imports whose client, or whose node, goes before their archive is kept: `POST /v1/orgs/:orgId/pages/import`

use std::fs;

use actors::pages::imports::PAGES_IMPORT;
use domain::{
    id::OrgId,
    pages::import::{ImportState, PageImport},
};
use store::{
    Clock,
    testing::{SECRET_KEY_TEXT, Scratch},
};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::{
    Notes,
    imports::{BETWEEN_LOOKS, LOOKS, small_zip},
};
use crate::harness::{Client, Launch};

/// The first thing that `found` answers.
async fn eventually<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..LOOKS {
        if let Some(it) = found().await {
            return it;
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    panic!("{what} did not happen")
}

/// Uploads all of a small archive, and waits for no answer. Whoever drops this leaves.
async fn upload(client: &Client, pages: &str) -> TcpStream {
    let (zip, token) = (small_zip(), client.token.as_deref().unwrap());
    let head = format!(
        "POST {pages}/import HTTP/1.1\r\nHost: troupe\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/zip\r\nContent-Length: {}\r\n\r\n",
        zip.len(),
    );
    let mut wire = TcpStream::connect(client.base().trim_start_matches("http://")).await.unwrap();
    wire.write_all(&[head.as_bytes(), &zip].concat()).await.unwrap();
    // Closed with a reset: the server takes a client that only sends no more for one that waits for its answer.
    wire.set_zero_linger().unwrap();
    wire
}

/// What becomes of an import whose client has left when its node stops, which has so long for that, while this goes wrong.
async fn import_into_a_node_that_stops(fault: &str, grace: &str) -> PageImport {
    let scratch = Scratch::new().await.unwrap();
    let faults = scratch.folder().join("faults");
    fs::write(&faults, fault).unwrap();
    let launch = Launch::in_folder(scratch.folder())
        .set(format!("database.url={}", scratch.url()))
        .set(format!("secrets.keys={SECRET_KEY_TEXT}"))
        .set(format!("shutdown.grace={grace}"))
        .faults(&faults);
    let process = launch.start();
    let ada = process.client().with_authenticator("ada").await;
    let org_id: OrgId = ada.org("Acme").await.parse().unwrap();
    let wire = upload(&ada, &format!("/v1/orgs/{org_id}/pages")).await;
    let store = scratch.store(Clock::system()).await.unwrap();
    let begun = async || store.work_listed(&[PAGES_IMPORT.name], 1).await.unwrap().pop();
    let job = eventually("the import has begun", begun).await;
    drop(wire);
    assert_eq!(process.terminate(), Some(0));

    fs::write(&faults, "").unwrap();
    let _process = launch.start();
    let id = job.key.unwrap().parse().unwrap();
    let over = async || store.page_import(org_id, id).await.unwrap().filter(|import| import.ended_at.is_some());
    eventually("the import is over", over).await
}

#[tokio::test]
async fn an_import_goes_on_whose_client_leaves_while_its_archive_is_kept() {
    let notes = Notes::new().await;
    notes.server.faults.set("blob=stall(1s)").unwrap();
    let wire = upload(&notes.ada.client, &notes.path).await;
    let is_stalled = async || (notes.server.faults.happened() > 0).then_some(());
    notes.server.eventually("the archive is being kept", is_stalled).await;
    drop(wire);
    let are_there = async || (notes.list().await.len() == 3).then_some(());
    notes.server.eventually("the pages are there", are_there).await;
    assert_eq!(notes.server.store().await.page_imports_running(notes.org_id()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_node_that_stops_keeps_the_archives_first_that_it_has() {
    let import = import_into_a_node_that_stops("blob=stall(1s)", "20s").await;
    assert_eq!((import.state, import.made.len(), import.error), (ImportState::Done, 2, None));
}

#[tokio::test]
async fn a_node_that_can_not_wait_for_an_archive_notes_that_the_upload_is_lost() {
    let import = import_into_a_node_that_stops("blob=stall", "2s").await;
    assert_eq!((import.state, import.made.len()), (ImportState::Failed, 0));
    assert_eq!(import.error.map(|fault| fault.code).as_deref(), Some("upload_lost"));
}
