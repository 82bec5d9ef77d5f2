use domain::{
    Tenant,
    id::{OrgId, UserId},
};
use serde_json::json;
use store::{
    Change, Clock, CommitError, EmailTo, OutboxClaim, OutboxEntry, Permits, RevocationKind, Store, Turns,
    outbox::{EMAIL, EVENT, LIVE, REVOKED},
    testing,
};

use crate::{LEASE, START, commit, open};

fn event(number: u32) -> OutboxEntry {
    OutboxEntry::Event { event: json!({ "type": "test", "number": number }) }
}

async fn add(store: &Store, entry: &OutboxEntry) {
    commit(store, |change| change.outbox_add(store.now(), entry)).await;
}

async fn claim(store: &Store, topic: &'static str) -> Vec<OutboxClaim> {
    store.outbox_claim(topic, &Turns::new(Permits::shared(10)), LEASE).await.expect("claims").taken()
}

#[tokio::test]
async fn each_topic_is_claimed_on_its_own_and_entries_come_back_as_written() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let user_id = UserId::new(START);
        let email = |to| OutboxEntry::Email { to, subject: "A".into(), body: "B\n".into(), calendar: None };
        let entries = [
            OutboxEntry::Live { user_id, message: json!({ "type": "vault.changed" }) },
            OutboxEntry::Revoked { kind: RevocationKind::SignIn, target_id: "sgn_1".into() },
            event(1),
            email(EmailTo::Person(user_id)),
            email(EmailTo::Address("a@example.com".into())),
        ];
        for entry in &entries {
            add(&store, entry).await;
        }
        let mut claimed = Vec::new();
        for topic in [LIVE, REVOKED, EVENT, EMAIL] {
            claimed.extend(claim(&store, topic).await);
        }
        assert!(claimed.is_sorted_by_key(|claim| claim.work.seq));
        assert!(claimed.iter().all(|claim| claim.work.attempts == 1 && claim.work.created_at == START));
        assert_eq!(claimed.into_iter().map(|claim| claim.entry).collect::<Vec<_>>(), entries);
    }
}

#[tokio::test]
async fn entries_wait_in_the_turns_of_whom_they_concern() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let (person, org) = (UserId::new(START), OrgId::new(START));
        let of = |event| OutboxEntry::Event { event };
        let in_org = of(json!({ "orgId": org, "userIds": [person] }));
        for (entry, tenant) in [
            (in_org, org.into()),
            (of(json!({ "orgId": null, "userIds": [person] })), person.into()),
            (of(json!({})), Tenant::System),
        ] {
            add(&store, &entry).await;
            let claimed = claim(&store, EVENT).await.remove(0);
            assert_eq!(claimed.work.tenant, tenant);
        }
    }
}

#[tokio::test]
async fn what_an_entry_causes_is_committed_by_who_holds_the_claim_and_by_nobody_else() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        for number in 0..3 {
            add(&store, &event(number)).await;
        }
        let lost = claim(&store, EVENT).await;
        clock.advance(LEASE);
        let held = claim(&store, EVENT).await;
        let mut late = Change::new();
        late.outbox_take(&lost);
        assert_eq!(store.commit(late).await, Err(CommitError::Stale));
        commit(&store, |change| change.outbox_take(&held)).await;
        assert_eq!(store.work_next(EVENT).await.expect("reads"), None);
        let mut twice = Change::new();
        twice.outbox_take(&held[..1]);
        assert_eq!(store.commit(twice).await, Err(CommitError::Stale));
    }
}
