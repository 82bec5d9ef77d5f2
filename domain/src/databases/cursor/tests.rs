use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    Timestamp,
    databases::{
        AttributeValue, Filter, FilterMatch, FilterOp, Filters, RowKey, SortCondition, SortOp, TableName,
        filter::tests::filter, value::tests::value,
    },
    id::ResourceId,
};

fn row(pk: &[u8], sk: &[u8]) -> RowKey {
    RowKey { pk: pk.to_vec(), sk: sk.to_vec() }
}

fn any_row() -> impl Strategy<Value = RowKey> {
    use proptest::collection::vec;
    (vec(any::<u8>(), 0..8), vec(any::<u8>(), 0..8)).prop_map(|(pk, sk)| RowKey { pk, sk })
}

fn any_position() -> impl Strategy<Value = Position> {
    prop_oneof![
        any_row().prop_map(Position::Table),
        (any_row(), any_row()).prop_map(|(index, table)| Position::Index { index, table }),
        (any::<[u8; 16]>(), any_row()).prop_map(|(hash, table)| Position::IndexByHash { hash, table }),
    ]
}

fn key() -> CursorKey {
    CursorKey::new(b"a secret of the server")
}

fn filters(filters: Vec<Filter>, matching: FilterMatch) -> Filters {
    Filters::check(filters, matching).unwrap()
}

#[test]
fn a_cursor_goes_on_with_what_it_came_from_and_nothing_else() {
    let (table, other_table) = (ResourceId::new(Timestamp(1)), ResourceId::new(Timestamp(2)));
    let (index, partition, other) =
        (TableName::parse("", "abc").unwrap(), value(json!({"S": "a"})), value(json!({"N": "1"})));
    let none = Filters::none();
    let two = || vec![filter("a", FilterOp::Exists, None), filter("b", FilterOp::Exists, None)];
    let some = [
        filters(Vec::new(), FilterMatch::Any),
        filters(two(), FilterMatch::All),
        filters(two(), FilterMatch::Any),
        filters(vec![filter("a", FilterOp::Equal, Some(json!({"S": "1"})))], FilterMatch::All),
        filters(vec![filter("a", FilterOp::Equal, Some(json!({"N": "1"})))], FilterMatch::All),
        filters(vec![filter("a", FilterOp::NotEqual, Some(json!({"N": "1"})))], FilterMatch::All),
    ];
    let sort = SortCondition { op: SortOp::Equal, value: Some(partition.clone()), value2: None };
    let query = |partition, direction| QueryScope { partition, sort: None, direction };
    let scan = CursorScope { table, index: None, query: None, filters: &none };
    let mut scopes = vec![
        scan,
        CursorScope { table: other_table, ..scan },
        CursorScope { index: Some(&index), ..scan },
        CursorScope { query: Some(query(&partition, Direction::Forward)), ..scan },
        CursorScope { query: Some(query(&partition, Direction::Backward)), ..scan },
        CursorScope { query: Some(query(&other, Direction::Forward)), ..scan },
        CursorScope { query: Some(QueryScope { sort: Some(&sort), ..query(&partition, Direction::Forward) }), ..scan },
    ];
    scopes.extend(some.iter().map(|filters| CursorScope { filters, ..scan }));
    let position = Position::Table(row(b"1234a", b"b"));
    for (at, written) in scopes.iter().enumerate() {
        let cursor = key().write(written, &position);
        for (place, read) in scopes.iter().enumerate() {
            assert_eq!(key().read(read, &cursor).is_ok(), at == place, "{at} {place}");
        }
        assert!(CursorKey::new(b"another").read(written, &cursor).is_err());
    }
}

#[test]
fn equal_values_make_equal_scopes() {
    let none = Filters::none();
    let scope = |partition: &AttributeValue| {
        let query = QueryScope { partition, sort: None, direction: Direction::Forward };
        let table = "res_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        key().write(
            &CursorScope { table, index: None, query: Some(query), filters: &none },
            &Position::Table(row(b"", b"")),
        )
    };
    assert_eq!(scope(&value(json!({"N": "1.0"}))), scope(&value(json!({"N": "1"}))));
}

#[test]
fn the_longest_position_still_fits_a_cursor() {
    let none = Filters::none();
    let scope = CursorScope { table: ResourceId::new(Timestamp(1)), index: None, query: None, filters: &none };
    let longest = row(&[b'a'; 4 + 2_048], &[b'b'; 1_024]);
    let table = Position::Table(longest.clone());
    assert_eq!(key().read(&scope, &key().write(&scope, &table)).unwrap(), table);
    let position = Position::Index { index: longest.clone(), table: longest.clone() };
    let cursor = key().write(&scope, &position);
    assert!(cursor.len() <= CURSOR_LEN_MAX, "{}", cursor.len());
    let read = key().read(&scope, &cursor).unwrap();
    assert_eq!(read.table_row(), &longest);
    assert_eq!(read.index_row(Some(longest.clone())).unwrap(), longest);
    for now in [None, Some(row(&[b'a'; 4 + 2_048], b""))] {
        let refused = read.index_row(now).unwrap_err();
        assert_eq!(refused.to_string(), "Invalid page cursor. Run the request again.");
    }
    assert!(table.index_row(Some(longest)).is_err());
}

#[test]
fn anything_else_is_refused_with_the_contracts_words() {
    let none = Filters::none();
    let scope = CursorScope { table: ResourceId::new(Timestamp(1)), index: None, query: None, filters: &none };
    for cursor in ["", "A", "AAAA", "%%%%", &"A".repeat(22), &"A".repeat(8_000), &"A".repeat(8_001), "é"] {
        let refused = key().read(&scope, cursor).unwrap_err();
        assert_eq!((refused.status(), refused.code()), (400, "invalid_cursor"));
        assert_eq!(refused.to_string(), "Invalid page cursor. Run the request again.");
    }
}

proptest! {
    #[test]
    fn a_position_reads_back_and_any_damage_is_noticed(position in any_position(), place in any::<usize>(), byte in any::<u8>()) {
        let none = Filters::none();
        let table = "res_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        let scope = CursorScope { table, index: None, query: None, filters: &none };
        let cursor = key().write(&scope, &position);
        prop_assert_eq!(key().read(&scope, &cursor).unwrap(), position);
        let mut damaged = cursor.clone().into_bytes();
        let place = place % damaged.len();
        damaged[place] = byte & 0x7f;
        let damaged = String::from_utf8(damaged).unwrap();
        prop_assert_eq!(key().read(&scope, &damaged).is_ok(), damaged == cursor);
    }

    #[test]
    fn no_bytes_are_two_positions(bytes in proptest::collection::vec(0_u8..6, 0..20)) {
        if let Some(position) = Position::from_bytes(&bytes) {
            prop_assert_eq!(position.to_bytes(), bytes);
        }
    }
}
