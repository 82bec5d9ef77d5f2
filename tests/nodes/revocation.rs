//! What is revoked on one node is dead on both soon.

use std::time::{Duration, Instant};

use super::Pair;
use crate::harness::{Client, Process, Socket};

/// The program says a second; a machine that does much else may take longer now and then.
const SOON: Duration = Duration::from_secs(15);
/// How long it may take then.
const PATIENCE: Duration = Duration::from_mins(2);

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_dies_on_both_nodes_soon() {
    let Some(pair) = Pair::start(&[]).await else { return };
    verify_revocations(&pair.nodes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_dies_on_both_nodes_soon_without_redis() {
    let Some(pair) = Pair::without_redis(&[]).await else { return };
    verify_revocations(&pair.nodes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sockets_of_a_revoked_sign_in_close_on_both_nodes_soon() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let [left, right] = pair.clients();
    let ada = left.with_authenticator("ada").await;
    let mut sockets = [Socket::live(&ada, 0).await, Socket::live(&ada.at(right.base()), 0).await];
    ada.post("/v1/auth/sign-out").send().await.expect_success();
    for socket in &mut sockets {
        assert_eq!(socket.closed().await, Some(4401));
    }
}

async fn verify_revocations(nodes: &[Process; 2]) {
    let [left, right] = [nodes[0].client(), nodes[1].client()];
    let email = left.register("ada").await;
    let mut took = [PATIENCE; 2];
    for round in 0..6 {
        let (here, there) = if round % 2 == 0 { (&left, &right) } else { (&right, &left) };
        let ada = here.sign_in(&email, "account", "web").await;
        let elsewhere = ada.at(there.base());
        // Both nodes have looked the token up, and remember it.
        ada.get("/v1/me").send().await.expect(200);
        elsewhere.get("/v1/me").send().await.expect(200);
        ada.post("/v1/auth/sign-out").send().await.expect_success();
        let revoked = Instant::now();
        ada.get("/v1/me").send().await.expect(401);
        let way = &mut took[round % 2];
        *way = until_refused(&elsewhere, revoked).await.min(*way);
    }
    // Each way, one time of three at least: a token is remembered for longer where nobody says that it is dead.
    assert!(took.iter().all(|took| *took < SOON), "{took:?}");
}

/// Asks until the token is refused; how long after it was revoked it was last asked that.
async fn until_refused(client: &Client, revoked: Instant) -> Duration {
    loop {
        let asked = Instant::now();
        let answer = client.get("/v1/me").send().await;
        if answer.status == 401 {
            return asked.duration_since(revoked);
        }
        answer.expect(200);
        assert!(asked.duration_since(revoked) < PATIENCE, "the token still works");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
