//! Sixteen devices change one vault through both nodes at random.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::Value;
use store::Clock;

use super::Pair;
use crate::harness::{Dice, Socket, VaultDevice, item_put};

const DEVICES: usize = 16;
const CHANGES_PER_DEVICE: usize = 20;
const ITEMS: usize = 8;
/// How often a device repeats a change that others were faster than.
const TRIES_MAX: usize = 5_000;

/// A change that the server acknowledged.
#[derive(Clone, Debug)]
struct Acknowledged {
    vault_revision: i64,
    item_id: String,
    item_revision: i64,
    content: String,
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_devices_change_one_vault_through_two_nodes_and_nothing_is_lost() {
    // A deadline that passed would leave open what was done.
    let Some(pair) = Pair::start(&["server.request_timeout=10m"]).await else { return };
    let mut dice = Dice::from_environment("TROUPE_NODES_SEED");
    let devices = devices(&pair, &mut dice).await;
    let first = devices[0].clone();
    let item_ids: Vec<_> = (0..ITEMS).map(|_| dice.device_made_id()).collect();
    let [left, right] = pair.clients().map(|client| first.client.at(client.base()));
    let count = i64::try_from(DEVICES * CHANGES_PER_DEVICE).unwrap();
    let sockets = [Socket::live(&left, 0).await, Socket::live(&right, 0).await];
    let listeners = sockets.map(|socket| tokio::spawn(hear_all(socket, count)));

    let writers = devices.into_iter().map(|device| {
        let bases = pair.clients().map(|client| client.base().to_owned());
        tokio::spawn(write(device, bases, item_ids.clone(), dice.fork()))
    });
    let written = join_all(writers.collect::<Vec<_>>()).await;
    let acknowledged: Vec<_> = written.into_iter().flat_map(|one| one.expect("a device without complaints")).collect();

    let mut revisions: Vec<_> = acknowledged.iter().map(|change| change.vault_revision).collect();
    revisions.sort_unstable();
    assert!(revisions.iter().copied().eq(1..=count), "revisions have gaps or come twice: {revisions:?}");
    for client in [&left, &right] {
        let device = first.at(client.base());
        assert_eq!(device.index().await.int("/revision"), count);
        verify_items(&device.items(&item_ids).await, &acknowledged);
    }
    for listener in listeners {
        listener.await.expect("a socket that heard everything");
    }
}

/// Devices of one person, each with a sign-in of its own.
async fn devices(pair: &Pair, dice: &mut Dice) -> Vec<VaultDevice> {
    let clients = pair.clients();
    let email = clients[0].register("ada").await;
    let mut signed_in = Vec::new();
    for number in 0..DEVICES {
        signed_in.push(clients[number % 2].sign_in(&email, "authenticator", "android").await);
    }
    let first = VaultDevice::new(signed_in.remove(0), Clock::system(), dice);
    first.create().await;
    let mut devices = vec![first.clone()];
    for client in signed_in {
        let device = first.another(client, dice);
        device.register().await;
        devices.push(device);
    }
    devices
}

/// Makes all its changes, each at what the device last heard of the item, again where somebody else was faster.
async fn write(device: VaultDevice, bases: [String; 2], item_ids: Vec<String>, mut dice: Dice) -> Vec<Acknowledged> {
    let mut seen: BTreeMap<String, i64> = BTreeMap::new();
    let mut acknowledged = Vec::new();
    let mut tries = 0;
    while acknowledged.len() < CHANGES_PER_DEVICE {
        tries += 1;
        assert!(tries < TRIES_MAX, "no change gets through");
        let item_id = dice.pick(&item_ids).clone();
        let content = format!("{} {:016x}", device.device_id, dice.next());
        let base = seen.get(&item_id).copied().unwrap_or(0);
        let node = device.at(dice.pick::<String>(&bases));
        let answer = node.change(&[item_put(&item_id, base, &content)]).send().await;
        if answer.status == 503 {
            // Both nodes were busy with the vault for too long: it is known that nothing was changed.
            let items = node.items(std::slice::from_ref(&item_id)).await;
            assert!(items.iter().all(|item| item["details"] != *content), "a change that was answered 503 was made");
            continue;
        }
        let answer = answer.expect(200);
        let result = &answer.json["results"][0];
        let revision = match result["status"].as_str().unwrap() {
            "ok" => {
                let item_revision = result["revision"].as_i64().unwrap();
                assert_eq!(item_revision, base + 1);
                let (vault_revision, item_id) = (answer.int("/vault/revision"), item_id.clone());
                acknowledged.push(Acknowledged { vault_revision, item_id, item_revision, content });
                item_revision
            }
            "conflict" => {
                let current = result["current"]["revision"].as_i64().unwrap_or(0);
                assert_ne!(current, base, "a conflict with what the device knew: {}", answer.text);
                current
            }
            _ => panic!("{}", answer.text),
        };
        seen.insert(item_id, revision);
    }
    acknowledged
}

/// Every item is what its last acknowledged change made of it, and no acknowledged change has taken another's place.
fn verify_items(items: &[Value], acknowledged: &[Acknowledged]) {
    for item in items {
        let mut changes: Vec<_> = acknowledged.iter().filter(|change| item["itemId"] == change.item_id).collect();
        changes.sort_by_key(|change| change.item_revision);
        let revisions: Vec<_> = changes.iter().map(|change| change.item_revision).collect();
        assert!(revisions.iter().copied().eq((1..).take(changes.len())), "{item}: {revisions:?}");
        let last = changes.last().unwrap();
        assert_eq!((&item["revision"], &item["details"]), (&last.item_revision.into(), &last.content.clone().into()));
        let in_order = changes.windows(2).all(|pair| pair[0].vault_revision < pair[1].vault_revision);
        assert!(in_order, "an item's revisions follow the vault's: {changes:?}");
    }
    let touched: std::collections::BTreeSet<_> = acknowledged.iter().map(|change| &change.item_id).collect();
    assert_eq!(items.len(), touched.len());
}

/// Hears every revision up to `count` once and in order, and no number missing.
async fn hear_all(mut socket: Socket, count: i64) {
    let (mut seq, mut revision) = (0, 0);
    while revision < count {
        let message = socket.message().await;
        assert_eq!(message["seq"], seq + 1, "{message} after number {seq}");
        seq += 1;
        // The making of the vault and new devices leave the revision as it is.
        if message["type"] == "vault.changed" && message["revision"] != revision {
            assert_eq!(message["revision"], revision + 1, "{message} after revision {revision}");
            revision += 1;
        }
    }
}
