//! Many move pages at the same time, and the tree stays a tree.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::{Value, json};

use super::Notes;
use crate::{
    harness::{Client, Dice},
    nodes::Pair,
};

const MOVERS: usize = 12;
const MOVES_EACH: usize = 25;
const PAGES: usize = 10;

/// Moves pages at random, into the trash and back too; how many moves were made.
async fn mover(clients: Vec<Client>, path: String, ids: Vec<String>, mut dice: Dice) -> usize {
    let mut made = 0;
    for _ in 0..MOVES_EACH {
        let client = dice.pick(&clients).clone();
        let page = dice.pick(&ids).clone();
        let body = match dice.below(10) {
            0 => json!({ "archived": true }),
            1 | 2 => json!({ "archived": false }),
            3 => json!({ "parentId": "root" }),
            4 => json!({ "position": f64::from(u8::try_from(dice.below(12)).unwrap()) }),
            _ => json!({ "parentId": dice.pick(&ids) }),
        };
        let answer = client.patch(&format!("{path}/{page}")).json(&body).send().await;
        match answer.status {
            200 => made += 1,
            // Into itself, below itself, into the trash, in the trash, or others were faster time and again.
            400 | 409 | 503 => {}
            status => panic!("{body} answered {status} {}", answer.text),
        }
    }
    made
}

/// Fails unless every page is there once, and its way up leads to the root, out of the trash only where it isn't in it.
async fn assert_is_tree(client: &Client, path: &str, ids: &[String]) {
    let mut pages: BTreeMap<String, Value> = BTreeMap::new();
    for query in ["", "?archived=1"] {
        let listed = client.get(&format!("{path}{query}")).send().await.expect(200);
        for page in listed.list("/pages") {
            let before = pages.insert(page["pageId"].as_str().unwrap().to_owned(), page.clone());
            assert!(before.is_none(), "{page} is there twice");
        }
    }
    assert_eq!(pages.len(), ids.len());
    let mut places: Vec<_> =
        pages.values().map(|page| (page["parentId"].to_string(), page["position"].to_string())).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), ids.len(), "two siblings have one position");
    for page in pages.values() {
        let (mut at, mut steps) = (page, 1);
        while at["parentId"] != "root" {
            let parent = &pages[at["parentId"].as_str().unwrap()];
            assert!(parent["archived"] == false || at["archived"] == true, "{at} is not in the trash, but {parent} is");
            (at, steps) = (parent, steps + 1);
            assert!(steps <= ids.len(), "{page} lies in a circle");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_moves_never_make_a_circle() {
    let notes = Notes::new().await;
    let mut dice = Dice::from_environment("TROUPE_PAGES_SEED");
    let mut ids = Vec::new();
    for number in 0..PAGES {
        ids.push(notes.page("root", &number.to_string()).await);
    }
    let movers = (0..MOVERS)
        .map(|_| tokio::spawn(mover(vec![notes.ada.client.clone()], notes.path.clone(), ids.clone(), dice.fork())));
    let made: usize = join_all(movers.collect::<Vec<_>>()).await.into_iter().map(|made| made.expect("a mover")).sum();
    assert!(made > MOVERS * MOVES_EACH / 10, "only {made} moves were made");
    assert_is_tree(&notes.ada.client, &notes.path, &ids).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_moves_into_one_another_one_is_refused() {
    let notes = Notes::new().await;
    for _ in 0..10 {
        let (one, other) = (notes.page("root", "one").await, notes.page("root", "other").await);
        let into =
            |page: &str, parent: &str| notes.ada.client.patch(&notes.at(page)).json(&json!({ "parentId": parent }));
        let (first, second) = tokio::join!(into(&one, &other).send(), into(&other, &one).send());
        let mut statuses = [first.status, second.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400], "{} {}", first.text, second.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn moves_through_two_nodes_never_make_a_circle() {
    let Some(pair) = Pair::start(&[]).await else { return };
    let mut dice = Dice::from_environment("TROUPE_PAGES_SEED");
    let [left, right] = pair.clients();
    let email = left.register("ada").await;
    let left = left.sign_in(&email, "account", "web").await;
    let right = left.at(right.base());
    let path = format!("/v1/orgs/{}/pages", left.org("Acme").await);
    let mut ids = Vec::new();
    for number in 0..PAGES {
        let node = if number % 2 == 0 { &left } else { &right };
        let made = node.post(&path).json(&json!({ "title": number.to_string() })).send().await.expect(201);
        ids.push(made.str("/page/pageId").to_owned());
    }
    let movers = (0..MOVERS)
        .map(|_| tokio::spawn(mover(vec![left.clone(), right.clone()], path.clone(), ids.clone(), dice.fork())));
    let made: usize = join_all(movers.collect::<Vec<_>>()).await.into_iter().map(|made| made.expect("a mover")).sum();
    assert!(made > MOVERS * MOVES_EACH / 20, "only {made} moves were made");
    for node in [&left, &right] {
        assert_is_tree(node, &path, &ids).await;
    }
}
