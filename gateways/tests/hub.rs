//! The hub as its callers see it: in process, and between two nodes on Redis when `TROUPE_TEST_REDIS_URL` is set.
#![expect(clippy::unwrap_used, reason = "what a test can't do without stops it")]

use std::time::{Duration, Instant};

use bytes::Bytes;
use domain::{Timestamp, id::UserId};
use gateways::{Hub, HubMode, HubOptions, Limit, RetryAfter, Signal, Subscription, Ticket, hub::TICKET_LIFETIME};
use serde_json::json;

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const PATIENCE: Duration = Duration::from_secs(60);
const LIMIT: Limit = Limit::new(10, Duration::from_mins(1));
/// Redis forgets a count by its own clock, after six seconds at the earliest, and where it doesn't answer for two, each node
/// counts by itself: only what took less time must be as it is expected.
const AT_ONCE: Duration = Duration::from_millis(1_500);

/// Two nodes of one installation; in process they are one and the same.
struct Nodes {
    one: Hub,
    other: Hub,
    redis: Option<Redis>,
}

/// A look past the hub.
struct Redis {
    connection: redis::aio::MultiplexedConnection,
    prefix: String,
}

async fn nodes() -> Vec<Nodes> {
    let alone = Hub::in_process();
    let mut all = vec![Nodes { one: alone.clone(), other: alone, redis: None }];
    let Ok(url) = std::env::var("TROUPE_TEST_REDIS_URL") else {
        eprintln!("TROUPE_TEST_REDIS_URL is not set: tested in process only");
        return all;
    };
    let prefix = format!("troupe-test-{}", UserId::new(NOW));
    let options = HubOptions::Redis { url: url.clone(), prefix: prefix.clone() };
    let (one, other) = (Hub::new(&options).unwrap(), Hub::new(&options).unwrap());
    assert!(one.connected_within(PATIENCE).await && other.connected_within(PATIENCE).await);
    let connection = redis::Client::open(url).unwrap().get_multiplexed_async_connection().await.unwrap();
    all.push(Nodes { one, other, redis: Some(Redis { connection, prefix }) });
    all
}

impl Redis {
    /// Waits until a channel has so many subscribers.
    async fn has_subscribers(&mut self, channel: &str, count: u64) {
        let begun = Instant::now();
        while self.subscribers(channel).await != count {
            assert!(begun.elapsed() < PATIENCE, "{channel} never had {count} subscribers");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn subscribers(&mut self, channel: &str) -> u64 {
        let name = format!("{}:channel:{channel}", self.prefix);
        let mut command = redis::cmd("PUBSUB");
        let (_, count): (String, u64) =
            command.arg("NUMSUB").arg(name).query_async(&mut self.connection).await.unwrap();
        count
    }
}

async fn next(subscription: &mut Subscription) -> Signal {
    tokio::time::timeout(PATIENCE, subscription.next()).await.expect("a signal in time")
}

fn message(text: &str) -> Signal {
    Signal::Message(Bytes::copy_from_slice(text.as_bytes()))
}

fn ticket() -> Ticket {
    Ticket { user_id: UserId::new(NOW), sign_in_id: None, resource: "live".into(), rights: json!({"write": true}) }
}

#[tokio::test]
async fn a_message_reaches_the_listeners_of_its_channel_on_every_node_once() {
    for nodes in nodes().await {
        let mut here = nodes.one.subscribe("live:a").await;
        let mut there = nodes.other.subscribe("live:a").await;
        let mut elsewhere = nodes.other.subscribe("live:b").await;
        nodes.one.publish("live:a", "first");
        nodes.one.publish("live:a", "second");
        nodes.one.publish("live:b", "for b");
        for subscription in [&mut here, &mut there] {
            assert_eq!(next(subscription).await, message("first"));
            assert_eq!(next(subscription).await, message("second"));
            assert_eq!(subscription.try_next(), None);
        }
        assert_eq!(next(&mut elsewhere).await, message("for b"));
    }
}

#[tokio::test]
async fn messages_of_one_publisher_stay_in_order() {
    for nodes in nodes().await {
        let mut there = nodes.other.subscribe("page").await;
        for number in 0..1_000 {
            nodes.one.publish("page", number.to_string());
        }
        for number in 0..1_000 {
            assert_eq!(next(&mut there).await, message(&number.to_string()));
        }
    }
}

#[tokio::test]
async fn a_channel_ends_with_its_last_listener() {
    for mut nodes in nodes().await {
        let one = nodes.one.subscribe("page").await;
        let two = nodes.one.subscribe("page").await;
        drop(one);
        assert_eq!(nodes.one.channels_len(), 1);
        if let Some(redis) = &mut nodes.redis {
            redis.has_subscribers("page", 1).await;
        }
        drop(two);
        assert_eq!(nodes.one.channels_len(), 0);
        // Interest is told in order: once this is confirmed, so is the leaving before it.
        let _after = nodes.one.subscribe("another").await;
        if let Some(redis) = &mut nodes.redis {
            redis.has_subscribers("page", 0).await;
        }
    }
}

#[tokio::test]
async fn many_who_come_and_go_leave_nothing_behind() {
    for mut nodes in nodes().await {
        let visits = (0..500).map(|number| {
            let hub = if number % 2 == 0 { nodes.one.clone() } else { nodes.other.clone() };
            async move { drop(hub.subscribe(&format!("page:{}", number % 7)).await) }
        });
        futures::future::join_all(visits).await;
        assert_eq!((nodes.one.channels_len(), nodes.other.channels_len()), (0, 0));
        let _after = (nodes.one.subscribe("after").await, nodes.other.subscribe("after").await);
        if let Some(redis) = &mut nodes.redis {
            for number in 0..7 {
                redis.has_subscribers(&format!("page:{number}"), 0).await;
            }
        }
    }
}

#[tokio::test]
async fn a_ticket_is_spent_by_one_of_all_who_try() {
    for nodes in nodes().await {
        let issued = ticket();
        let token = nodes.one.ticket_issue(issued.clone(), NOW).await.unwrap();
        let tries = (0..64).map(|number| {
            let hub = if number % 2 == 0 { nodes.one.clone() } else { nodes.other.clone() };
            let token = token.clone();
            tokio::spawn(async move { hub.ticket_spend(&token, "live", NOW).await.unwrap() })
        });
        let got: Vec<_> = futures::future::join_all(tries).await.into_iter().filter_map(Result::unwrap).collect();
        assert_eq!(got, [issued]);
    }
}

#[tokio::test]
async fn a_ticket_lasts_two_minutes_and_no_longer() {
    for nodes in nodes().await {
        let end = NOW.after(TICKET_LIFETIME);
        let in_time = nodes.one.ticket_issue(ticket(), NOW).await.unwrap();
        let too_late = nodes.one.ticket_issue(ticket(), NOW).await.unwrap();
        let last_moment = end.before(Duration::from_millis(1));
        assert!(nodes.other.ticket_spend(&in_time, "live", last_moment).await.unwrap().is_some());
        assert!(nodes.other.ticket_spend(&too_late, "live", end).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn redis_forgets_an_unspent_ticket_by_itself() {
    for mut nodes in nodes().await {
        let token = nodes.one.ticket_issue(ticket(), NOW).await.unwrap();
        let Some(redis) = &mut nodes.redis else { continue };
        let mut command = redis::cmd("PTTL");
        command.arg(format!("{}:ticket:{token}", redis.prefix));
        let left_ms: i64 = command.query_async(&mut redis.connection).await.unwrap();
        assert!((1..=120_000).contains(&left_ms), "{left_ms}");
    }
}

#[tokio::test]
async fn a_ticket_opens_its_resource_only_and_is_spent_by_the_try() {
    for nodes in nodes().await {
        let token = nodes.one.ticket_issue(ticket(), NOW).await.unwrap();
        assert!(nodes.other.ticket_spend(&token, "page:pag_1", NOW).await.unwrap().is_none());
        assert!(nodes.one.ticket_spend(&token, "live", NOW).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn what_was_never_issued_opens_nothing() {
    for nodes in nodes().await {
        let never_issued = "A".repeat(43);
        for token in ["", "x", "ticket", "../../etc", "\r\nFLUSHALL\r\n", never_issued.as_str()] {
            assert!(nodes.one.ticket_spend(token, "live", NOW).await.unwrap().is_none(), "{token:?}");
        }
    }
}

#[tokio::test]
async fn a_limit_holds_across_nodes_to_the_millisecond() {
    for nodes in nodes().await {
        let at = |millis| NOW.after(Duration::from_millis(millis));
        let wait = |millis| Err(RetryAfter(Duration::from_millis(millis)));
        found_at_once(async |round| {
            let key = format!("sign-in:ada {round}");
            let mut burst = Vec::new();
            for number in 0..10 {
                let hub = if number % 2 == 0 { &nodes.one } else { &nodes.other };
                burst.push(hub.limit_check(&key, LIMIT, NOW).await);
            }
            let beyond = [
                nodes.one.limit_check(&key, LIMIT, NOW).await,
                nodes.other.limit_check(&key, LIMIT, at(5_999)).await,
                nodes.other.limit_check(&key, LIMIT, at(6_000)).await,
                nodes.one.limit_check(&key, LIMIT, at(6_000)).await,
                nodes.one.limit_check(&format!("sign-in:eve {round}"), LIMIT, NOW).await,
            ];
            (burst, beyond) == (vec![Ok(()); 10], [wait(6_000), wait(1), Ok(()), wait(6_000), Ok(())])
        })
        .await;
        // A clock that is set back by a day locks nobody out for a day.
        found_at_once(async |round| {
            let key = format!("sign-in:bob {round}");
            let mut burst = Vec::new();
            for _ in 0..10 {
                burst.push(nodes.one.limit_check(&key, LIMIT, at(86_400_000)).await);
            }
            let set_back =
                [nodes.other.limit_check(&key, LIMIT, NOW).await, nodes.one.limit_check(&key, LIMIT, at(6_000)).await];
            (burst, set_back) == (vec![Ok(()); 10], [wait(6_000), Ok(())])
        })
        .await;
    }
}

/// Looks until it is found so, with other keys each time; once is enough for a look that took no time.
async fn found_at_once(look: impl AsyncFn(u32) -> bool) {
    for round in 0..100 {
        let begun = Instant::now();
        if look(round).await {
            return;
        }
        assert!(begun.elapsed() > AT_ONCE, "a limit is another than it should be");
    }
    panic!("no look was quick enough");
}

#[tokio::test]
async fn a_limit_counts_requests_that_come_together() {
    for nodes in nodes().await {
        found_at_once(async |round| {
            let tries = (0..100).map(|number| {
                let hub = if number % 2 == 0 { nodes.one.clone() } else { nodes.other.clone() };
                tokio::spawn(async move { hub.limit_check(&format!("together {round}"), LIMIT, NOW).await.is_ok() })
            });
            let passed = futures::future::join_all(tries).await;
            passed.into_iter().filter(|passed| *passed.as_ref().unwrap()).count() == 10
        })
        .await;
    }
}

#[tokio::test]
async fn health_says_how_the_hub_is() {
    for nodes in nodes().await {
        let health = nodes.one.health();
        let mode = if nodes.redis.is_some() { HubMode::Redis } else { HubMode::InProcess };
        assert_eq!((health.mode, health.connected), (mode, true));
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_at_once() {
    for url in ["", "redis", "http://127.0.0.1:6379"] {
        let options = HubOptions::Redis { url: url.into(), prefix: "troupe".into() };
        assert!(Hub::new(&options).is_err(), "{url}");
    }
}
