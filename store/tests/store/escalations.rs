use domain::{
    Role, Timestamp,
    id::{EscalationId, OrgId, ProtocolId, UserId},
    notify::{
        Channel,
        escalation::{EndReason, EscalationState, Plan, PlannedStep, Progress},
    },
};
use store::{
    Change, Clock, CommitError,
    notify::escalations::{Escalation, EscalationQuery, Occasion, TIMER_KIND, TIMER_STEP, Telling},
    testing::backends,
};

const START: Timestamp = Timestamp(1_700_000_000_000);

fn escalation(dedup_key: Option<&str>, source: &str) -> Escalation {
    let step = PlannedStep { rule: 0, step: 0, at: START, due: START, before_event: false };
    Escalation {
        id: EscalationId::new(START),
        version: 1,
        org_id: OrgId::new(START),
        protocol_id: ProtocolId::new(START),
        protocol_name: "Nights".into(),
        source: source.into(),
        is_test: false,
        kind: "ops.alarm".into(),
        title: "The disk is full".into(),
        body: None,
        url: None,
        concerned: vec![UserId::new(START)],
        rules: Vec::new(),
        progress: Progress::new(Plan::new([step])),
        state: EscalationState::Running,
        dedup_key: dedup_key.map(str::to_owned),
        is_open: dedup_key.is_some(),
        event_count: 1,
        last_title: "The disk is full".into(),
        last_event_at: START,
        handed_to: None,
        acked: None,
        ended: None,
        event_at: START,
        created_at: START,
    }
}

fn added(escalation: &Escalation) -> Change {
    let mut change = Change::new();
    change.escalation_add(escalation);
    change
}

#[tokio::test]
async fn an_escalation_is_read_as_it_was_written_and_set_at_its_version_only() {
    for scratch in backends().await {
        let store = scratch.store(Clock::manual(START)).await.unwrap();
        let mut escalation = escalation(Some("disk"), "outbox:1");
        store.commit(added(&escalation)).await.unwrap();
        assert_eq!(store.escalation(escalation.id).await.unwrap().as_ref(), Some(&escalation));
        let key = escalation.id.to_string();
        assert_eq!(store.timer_get(TIMER_KIND, &key, TIMER_STEP).await.unwrap().map(|timer| timer.due), Some(START));
        escalation.state = EscalationState::Acknowledged;
        for outcome in [Ok(()), Err(CommitError::Stale)] {
            let mut change = Change::new();
            change.escalation_set(&escalation);
            assert_eq!(store.commit(change).await, outcome);
        }
        assert_eq!(store.timer_get(TIMER_KIND, &key, TIMER_STEP).await.unwrap(), None);
        let read = store.escalation(escalation.id).await.unwrap();
        assert_eq!(read, Some(Escalation { version: 2, ..escalation }));
    }
}

#[tokio::test]
async fn one_alarm_has_one_open_escalation_per_protocol_and_one_event_one_at_all() {
    for scratch in backends().await {
        let store = scratch.store(Clock::manual(START)).await.unwrap();
        let first = escalation(Some("disk"), "outbox:1");
        store.commit(added(&first)).await.unwrap();
        let same = Escalation { protocol_id: first.protocol_id, ..escalation(Some("disk"), "outbox:2") };
        assert!(matches!(store.commit(added(&same)).await, Err(CommitError::Duplicate { .. })));
        let again = Escalation { protocol_id: first.protocol_id, ..escalation(Some("memory"), "outbox:1") };
        assert!(matches!(store.commit(added(&again)).await, Err(CommitError::Duplicate { .. })));
        let open = store.escalations_open(&[(first.protocol_id, "disk"), (first.protocol_id, "memory")]).await.unwrap();
        assert_eq!(open, std::slice::from_ref(&first));
        let mut change = Change::new();
        change.escalation_take_in(first.id, "Still full", Timestamp(START.0 + 5));
        store.commit(change).await.unwrap();
        let read = store.escalations_of_key(first.org_id, "disk").await.unwrap();
        assert_eq!((read[0].event_count, read[0].last_title.as_str(), read[0].version), (2, "Still full", 1));
    }
}

#[tokio::test]
async fn the_end_of_a_protocol_ends_what_runs_and_lets_the_same_alarm_start_another() {
    for scratch in backends().await {
        let store = scratch.store(Clock::manual(START)).await.unwrap();
        let (ended, other) = (escalation(Some("disk"), "outbox:1"), escalation(Some("disk"), "outbox:1"));
        for escalation in [&ended, &other] {
            store.commit(added(escalation)).await.unwrap();
        }
        let mut change = Change::new();
        change.escalations_end_of_protocol(ended.protocol_id, START, EndReason::ProtocolDisabled);
        store.commit(change).await.unwrap();
        let read = store.escalation(ended.id).await.unwrap().unwrap();
        assert_eq!((read.state, read.is_open, read.version > 1), (EscalationState::Ended, false, true));
        assert_eq!(read.ended.map(|ended| ended.reason), Some(EndReason::ProtocolDisabled));
        assert_eq!(store.timer_get(TIMER_KIND, &ended.id.to_string(), TIMER_STEP).await.unwrap(), None);
        assert_eq!(store.escalation(other.id).await.unwrap(), Some(other.clone()));
        let next = Escalation { protocol_id: ended.protocol_id, ..escalation(Some("disk"), "outbox:2") };
        store.commit(added(&next)).await.unwrap();
        let mut change = Change::new();
        change.escalation_take_in(ended.id, "Late", START);
        assert_eq!(store.commit(change).await, Err(CommitError::Stale));
    }
}

#[tokio::test]
async fn escalations_are_listed_by_organization_and_state_newest_first_with_who_was_told() {
    for scratch in backends().await {
        let store = scratch.store(Clock::manual(START)).await.unwrap();
        let first = escalation(None, "outbox:1");
        let mut second = Escalation { org_id: first.org_id, ..escalation(None, "outbox:2") };
        second.id = EscalationId::new(Timestamp(START.0 + 1));
        second.state = EscalationState::Resolved;
        let telling = Telling {
            occasion: Occasion::Step(0),
            user_id: Some(first.concerned[0]),
            channel: Some(Channel::Push),
            delivery_id: None,
            held_until: Some(START),
            why_not: Some("no_device".into()),
            at: START,
        };
        let mut change = added(&first);
        change.append(added(&second));
        change.append(added(&escalation(None, "outbox:1")));
        change.escalation_telling_add(first.id, &telling);
        store.commit(change).await.unwrap();
        let listed = async |query| -> Vec<EscalationId> {
            store.escalations(first.org_id, query).await.unwrap().iter().map(|it| it.id).collect()
        };
        let all = EscalationQuery { state: None, before: None, limit: 10 };
        assert_eq!(listed(all).await, [second.id, first.id]);
        assert_eq!(listed(EscalationQuery { before: Some(second.id), ..all }).await, [first.id]);
        assert_eq!(listed(EscalationQuery { state: Some(EscalationState::Running), ..all }).await, [first.id]);
        assert_eq!(store.escalation_tellings(first.id).await.unwrap(), [telling]);
        let told = store.escalation_told(first.id).await.unwrap();
        assert_eq!((told.len(), told[0].user_id, told[0].channel), (1, first.concerned[0], Channel::Push));
        assert_eq!(store.members_among(first.org_id, &first.concerned, &[Role::Owner]).await.unwrap(), []);
    }
}
