use proptest::prelude::*;

use super::*;

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const BEFORE: Timestamp = Timestamp(1_600_000_000_000);

fn id(number: u8) -> ItemId {
    format!("{number:A>22}").parse().unwrap()
}

fn sealed() -> Sealed {
    Sealed::from_json_text("\"x\"")
}

fn put(number: u8, base_revision: i64) -> ItemChange {
    let [key, overview, details] = [0; 3].map(|_| Some(sealed()));
    ItemChange { item_id: id(number), base_revision, deleted: false, key, overview, details }
}

fn delete(number: u8, base_revision: i64) -> ItemChange {
    ItemChange { deleted: true, key: None, overview: None, details: None, ..put(number, base_revision) }
}

fn live(revision: i64) -> ItemHead {
    ItemHead { revision, deleted: false, created_at: BEFORE }
}

fn tombstone(revision: i64) -> ItemHead {
    ItemHead { deleted: true, ..live(revision) }
}

fn decided(heads: &[(u8, ItemHead)], live_max: u64, changes: Vec<ItemChange>) -> Decision {
    let live = heads.iter().filter(|(_, head)| !head.deleted).count() as u64;
    let heads = heads.iter().map(|(number, head)| (id(*number), *head)).collect();
    decide(&ItemChanges::check(changes).unwrap(), &heads, ItemRoom { live, live_max }, NOW)
}

fn outcome(heads: &[(u8, ItemHead)], change: ItemChange) -> Outcome {
    decided(heads, 100, vec![change]).outcomes[0]
}

fn done(revision: i64, created_at: Timestamp) -> Outcome {
    Outcome::Done(ItemHead { revision, deleted: false, created_at })
}

#[test]
fn a_new_item_starts_at_revision_1() {
    assert_eq!(outcome(&[], put(1, 0)), done(1, NOW));
}

#[test]
fn a_change_over_the_current_revision_is_done_and_keeps_when_the_item_was_made() {
    assert_eq!(outcome(&[(1, live(7))], put(1, 7)), done(8, BEFORE));
    assert_eq!(outcome(&[(1, live(7))], delete(1, 7)), Outcome::Done(tombstone(8)));
}

#[test]
fn a_change_over_another_revision_is_a_conflict() {
    for seen in [0, 6, 8] {
        assert_eq!(outcome(&[(1, live(7))], put(1, seen)), Outcome::Conflict);
    }
    assert_eq!(outcome(&[(1, live(7))], delete(1, 6)), Outcome::Conflict);
    assert_eq!(outcome(&[], put(1, 1)), Outcome::Conflict);
    assert_eq!(outcome(&[], delete(1, 1)), Outcome::Conflict);
}

#[test]
fn a_change_at_a_tombstones_revision_brings_the_item_back() {
    assert_eq!(outcome(&[(1, tombstone(7))], put(1, 7)), done(8, BEFORE));
    assert_eq!(outcome(&[(1, tombstone(7))], put(1, 0)), Outcome::Conflict);
    assert_eq!(outcome(&[(1, tombstone(7))], delete(1, 7)), Outcome::Done(tombstone(8)));
}

#[test]
fn a_change_that_makes_no_sense_is_invalid_whatever_the_revision() {
    let long = |bytes: usize| Some(Sealed::from_json_text("1".repeat(bytes)));
    for change in [
        delete(1, 0),
        ItemChange { key: Some(sealed()), ..delete(1, 7) },
        ItemChange { details: Some(sealed()), ..delete(1, 7) },
        ItemChange { key: None, ..put(1, 7) },
        ItemChange { overview: None, ..put(1, 7) },
        ItemChange { details: None, ..put(1, 0) },
        ItemChange { key: long(8 * 1024 + 1), ..put(1, 7) },
        ItemChange { overview: long(64 * 1024 + 1), ..put(1, 7) },
        ItemChange { details: long(1024 * 1024 + 1), ..put(1, 7) },
    ] {
        let outcome = outcome(&[(1, live(7))], change);
        assert!(matches!(outcome, Outcome::Rejected(Rejection::Invalid(_))), "{outcome:?}");
    }
    let (key, overview, details) = (long(8 * 1024), long(64 * 1024), long(1024 * 1024));
    assert_eq!(outcome(&[(1, live(7))], ItemChange { key, overview, details, ..put(1, 7) }), done(8, BEFORE));
}

#[test]
fn a_full_vault_takes_changes_and_deletions_but_no_further_item() {
    let full = [(1, live(1)), (2, live(1)), (3, tombstone(2))];
    let decision = decided(&full, 2, vec![put(1, 1), put(4, 0), put(3, 2)]);
    let limit = Outcome::Rejected(Rejection::Limit);
    assert_eq!(decision.outcomes, [done(2, BEFORE), limit, limit]);
    assert_eq!(decision.live, 2);
}

#[test]
fn deletions_make_room_wherever_they_stand_in_the_request() {
    let full = [(1, live(1)), (2, live(1))];
    let decision = decided(&full, 2, vec![put(3, 0), put(4, 0), delete(1, 1)]);
    let limit = Outcome::Rejected(Rejection::Limit);
    assert_eq!(decision.outcomes, [done(1, NOW), limit, Outcome::Done(tombstone(2))]);
    assert_eq!(decision.live, 2);
}

#[test]
fn tombstones_do_not_pile_up_without_end() {
    let tombstones: Vec<_> = (0..10).map(|number| (number, tombstone(2))).collect();
    assert_eq!(decided(&tombstones, 1, vec![put(10, 0)]).outcomes, [Outcome::Rejected(Rejection::Limit)]);
    assert_eq!(decided(&tombstones, 1, vec![put(9, 2)]).outcomes, [done(3, BEFORE)]);
    assert_eq!(decided(&tombstones[..9], 1, vec![put(10, 0)]).outcomes, [done(1, NOW)]);
}

#[test]
fn a_request_has_1_to_50_changes_of_different_items() {
    let many = |count: u8| (0..count).map(|number| put(number, 0)).collect::<Vec<_>>();
    assert!(ItemChanges::check(many(1)).is_ok());
    assert!(ItemChanges::check(many(50)).is_ok());
    assert!(ItemChanges::check(many(0)).is_err());
    assert!(ItemChanges::check(many(51)).is_err());
    let Err(Error::Invalid { problems }) = ItemChanges::check(vec![put(1, 0), put(2, 0), delete(1, 1)]) else {
        panic!()
    };
    assert_eq!(problems.into_iter().map(|problem| problem.path).collect::<Vec<_>>(), ["changes[2].itemId"]);
}

#[test]
fn the_items_changed_carry_what_was_sent() {
    let changes = ItemChanges::check(vec![put(1, 0), put(2, 9), delete(3, 1)]).unwrap();
    let heads = HashMap::from([(id(3), live(1))]);
    let decision = decide(&changes, &heads, ItemRoom { live: 1, live_max: 9 }, NOW);
    let items: Vec<_> = changed_items(&changes, &decision, NOW).collect();
    assert_eq!(items.iter().map(|item| (item.item_id, item.revision)).collect::<Vec<_>>(), [(id(1), 1), (id(3), 2)]);
    assert!(items[0].content.is_some() && items[1].content.is_none());
    assert_eq!((items[1].created_at, items[1].updated_at), (BEFORE, NOW));
}

/// What the contract says, in the plainest way: apply one change after the other to a table.
fn model(changes: &[ItemChange], table: &mut HashMap<ItemId, ItemHead>, live_max: u64) -> Vec<&'static str> {
    let mut words = vec![""; changes.len()];
    let order = (0..changes.len()).filter(|place| changes[*place].deleted);
    let order: Vec<_> = order.chain((0..changes.len()).filter(|place| !changes[*place].deleted)).collect();
    for place in order {
        let change = &changes[place];
        let parts = [&change.key, &change.overview, &change.details].into_iter().flatten().count();
        let sound = if change.deleted { parts == 0 && change.base_revision > 0 } else { parts == 3 };
        let revision = table.get(&change.item_id).map_or(0, |head| head.revision);
        let live = table.values().filter(|head| !head.deleted).count() as u64;
        let was_live = table.get(&change.item_id).is_some_and(|head| !head.deleted);
        let too_many =
            !change.deleted && !was_live && (live == live_max || revision == 0 && table.len() as u64 == 10 * live_max);
        words[place] = match () {
            () if !sound => "invalid",
            () if revision != change.base_revision => "conflict",
            () if too_many => "limit",
            () => {
                let created_at = table.get(&change.item_id).map_or(NOW, |head| head.created_at);
                table.insert(change.item_id, ItemHead { revision: revision + 1, deleted: change.deleted, created_at });
                "ok"
            }
        };
    }
    words
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done(_) => "ok",
        Outcome::Conflict => "conflict",
        Outcome::Rejected(Rejection::Limit) => "limit",
        Outcome::Rejected(Rejection::Invalid(_)) => "invalid",
    }
}

fn any_change() -> impl Strategy<Value = ItemChange> {
    let part = || prop_oneof![9 => Just(true), 1 => Just(false)];
    (0_u8..12, 0_i64..4, any::<bool>(), part(), part(), part()).prop_map(
        |(number, base_revision, deleted, key, overview, details)| {
            let part = |kept: bool| (kept != deleted).then(sealed);
            let (key, overview, details) = (part(key), part(overview), part(details));
            ItemChange { item_id: id(number), base_revision, deleted, key, overview, details }
        },
    )
}

proptest! {
    #[test]
    fn requests_come_out_as_in_the_plainest_model(
        live_max in 0_u64..6,
        requests in proptest::collection::vec(proptest::collection::vec(any_change(), 1..8), 1..20),
    ) {
        let mut heads: HashMap<ItemId, ItemHead> = HashMap::new();
        let mut table = HashMap::new();
        let mut live = 0;
        for changes in requests {
            let Ok(changes) = ItemChanges::check(changes) else { continue };
            let decision = decide(&changes, &heads, ItemRoom { live, live_max }, NOW);
            let words = model(changes.as_slice(), &mut table, live_max);
            prop_assert_eq!(decision.outcomes.iter().map(word).collect::<Vec<_>>(), words);
            for item in changed_items(&changes, &decision, NOW) {
                let (revision, deleted) = (item.revision, item.content.is_none());
                heads.insert(item.item_id, ItemHead { revision, deleted, created_at: item.created_at });
            }
            live = decision.live;
            prop_assert_eq!(&heads, &table);
            prop_assert_eq!(live, table.values().filter(|head| !head.deleted).count() as u64);
            prop_assert!(live <= live_max);
        }
    }
}
