use std::time::Duration;

use domain::id::{AuditId, OrgId};
use serde_json::json;
use store::{
    AuditActor, AuditEntry, AuditQuery, AuditTarget, Clock, FeedPosition, KeptMessage, Purge, Revocation,
    RevocationKind, audit::ActorKind, testing,
};

use crate::{START, commit, open, purge};

fn entry(org_id: OrgId, action: &str, actor: &str) -> AuditEntry {
    AuditEntry {
        org_id: Some(org_id),
        action: action.into(),
        actor: AuditActor { kind: ActorKind::User, id: actor.into(), label: Some("Ada".into()) },
        target: AuditTarget::new("vault", "vlt_1").labelled("Private"),
        metadata: Some(json!({ "revision": 7 })),
        ip: "2001:db8::1".parse().ok(),
        user_agent: Some("curl".into()),
    }
}

fn query(org_id: OrgId) -> AuditQuery {
    AuditQuery { org_id, action: None, actor: None, target: None, before: None, limit: 100 }
}

#[tokio::test]
async fn the_trail_is_read_newest_first_page_by_page_and_by_its_organization_only() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let (org_id, other) = (OrgId::new(START), OrgId::new(START));
        let mut written: Vec<AuditId> = Vec::new();
        for number in 0..5 {
            clock.advance(Duration::from_millis(1));
            let org_id = if number == 2 { other } else { org_id };
            commit(&store, |change| {
                written.push(change.audit_add(clock.now(), entry(org_id, "vault.created", "usr_1")));
            })
            .await;
        }
        let first = store.audit_list(&AuditQuery { limit: 2, ..query(org_id) }).await.expect("reads");
        assert_eq!(first.iter().map(|event| event.id).collect::<Vec<_>>(), [written[4], written[3]]);
        assert_eq!(first[0].entry, entry(org_id, "vault.created", "usr_1"));
        assert_eq!(first[0].created_at, START.after(Duration::from_millis(5)));
        let rest = store.audit_list(&AuditQuery { before: Some(first[1].id), ..query(org_id) }).await.expect("reads");
        assert_eq!(rest.iter().map(|event| event.id).collect::<Vec<_>>(), [written[1], written[0]]);
    }
}

#[tokio::test]
async fn the_trail_is_filtered_by_action_actor_and_target() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let org_id = OrgId::new(START);
        for (action, actor) in [("vault", "a"), ("vault.created", "b"), ("vaults.created", "a"), ("vault.deleted", "a")]
        {
            commit(&store, |change| {
                change.audit_add(START, entry(org_id, action, actor));
            })
            .await;
        }
        let actions = async |query: AuditQuery| {
            let mut actions: Vec<_> =
                store.audit_list(&query).await.expect("reads").into_iter().map(|event| event.entry.action).collect();
            actions.sort_unstable();
            actions
        };
        let by_action = |action: &str| AuditQuery { action: Some(action.into()), ..query(org_id) };
        assert_eq!(actions(by_action("vault")).await, ["vault", "vault.created", "vault.deleted"]);
        assert_eq!(actions(by_action("vault.created")).await, ["vault.created"]);
        assert_eq!(actions(AuditQuery { actor: Some("b".into()), ..query(org_id) }).await, ["vault.created"]);
        assert!(actions(AuditQuery { target: Some("vlt_2".into()), ..query(org_id) }).await.is_empty());
    }
}

#[tokio::test]
async fn old_entries_are_forgotten_and_newer_ones_kept() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        let org_id = OrgId::new(START);
        for _ in 0..2 {
            commit(&store, |change| {
                change.audit_add(clock.now(), entry(org_id, "vault.created", "a"));
            })
            .await;
            clock.advance(Duration::from_secs(1));
        }
        purge(&store, Purge::audit(START.after(Duration::from_millis(500)))).await;
        assert_eq!(store.audit_list(&query(org_id)).await.expect("reads").len(), 1);
    }
}

#[tokio::test]
async fn revocations_are_read_from_where_the_last_look_ended() {
    for scratch in testing::backends().await {
        let clock = Clock::manual(START);
        let store = open(&scratch, &clock).await;
        commit(&store, |change| change.revocation_add(START, RevocationKind::SignIn, "sgn_1")).await;
        let began = store.revocations_from(FeedPosition::NOW).await.expect("reads");
        assert_eq!(began.revocations, []);
        // What was revoked by a node whose clock is behind is no older for that.
        let earlier = START.before(Duration::from_hours(1));
        commit(&store, |change| change.revocation_add(earlier, RevocationKind::Key, "key_1")).await;
        let revoked = Revocation { seq: 2, kind: RevocationKind::Key, target_id: "key_1".into(), at: earlier };
        let look = store.revocations_from(began.position).await.expect("reads");
        // On PostgreSQL, another database's transaction that is still open has what is older shown once more.
        assert_eq!(look.revocations.last(), Some(&revoked));
        assert!(look.position >= began.position);
        assert_eq!(store.revocations_from(FeedPosition::FIRST).await.expect("reads").revocations.len(), 2);
        purge(&store, Purge::revocations(START)).await;
        let left = store.revocations_from(FeedPosition::FIRST).await.expect("reads");
        assert_eq!(left.revocations.len(), 1);
        assert!(left.position >= look.position, "what is thrown away moves no position back");
    }
}

#[tokio::test]
async fn kept_messages_are_read_newest_first_and_by_recipient() {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::manual(START)).await;
        let message = |recipient: &str, created_at| KeptMessage {
            gateway: "console".into(),
            channel: "email".into(),
            recipient: recipient.into(),
            subject: Some("Hello".into()),
            body: "Bonjour ☕".into(),
            created_at,
        };
        let later = START.after(Duration::from_secs(1));
        commit(&store, |change| {
            change.kept_add(message("a@example.com", START));
            change.kept_add(message("b@example.com", later));
        })
        .await;
        let all = store.kept_list(None, 10).await.expect("reads");
        assert_eq!(all, [message("b@example.com", later), message("a@example.com", START)]);
        assert_eq!(store.kept_list(Some("a@example.com"), 10).await.expect("reads").len(), 1);
        purge(&store, Purge::kept_messages(later)).await;
        assert_eq!(store.kept_list(None, 10).await.expect("reads").len(), 1);
    }
}
