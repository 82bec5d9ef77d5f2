//! `GET /v1/orgs/:orgId/pages` of many pages

use domain::{
    Timestamp,
    id::{OrgId, PageId, UserId},
    pages::{Page, PageKind},
};
use store::Change;

use super::Notes;

/// A page that was made at `at`.
fn page(org_id: OrgId, created_by: UserId, at: i64) -> Page {
    Page {
        id: PageId::new(Timestamp(at)),
        org_id,
        parent_id: None,
        kind: PageKind::Doc,
        is_row: false,
        title: String::new(),
        icon: None,
        full_width: None,
        position: 1.0,
        archived_at: None,
        archived_with: None,
        content_version: 0,
        properties: None,
        schema: None,
        views: None,
        version: 1,
        created_at: Timestamp(at),
        created_by,
        updated_at: Timestamp(at),
        updated_by: None,
    }
}

#[tokio::test]
async fn beyond_five_thousand_pages_the_list_is_truncated_and_rows_go_first() {
    let notes = Notes::new().await;
    let org_id: OrgId = notes.path.split('/').nth(3).unwrap().parse().unwrap();
    let by: UserId = notes.ada.user_id.parse().unwrap();
    let database = notes.database("root", "Tasks").await;
    let store = notes.server.store().await;
    let mut change = Change::new();
    let row =
        Page { is_row: true, parent_id: Some(database.parse().unwrap()), title: "row".into(), ..page(org_id, by, 0) };
    change.page_add(&row);
    for number in 1..=4_998_u16 {
        change.page_add(&page(org_id, by, i64::from(number)));
    }
    store.commit(change).await.unwrap();
    let listed = notes.ada.client.get(&notes.path).send().await.expect(200);
    assert_eq!((listed.list("/pages").len(), &listed.json["truncated"]), (5_000, &false.into()));
    assert!(listed.list("/pages").iter().any(|page| page["title"] == "row"));

    notes.page("root", "one more").await;
    let listed = notes.ada.client.get(&notes.path).send().await.expect(200);
    assert_eq!((listed.list("/pages").len(), &listed.json["truncated"]), (5_000, &true.into()));
    assert!(listed.list("/pages").iter().all(|page| page["title"] != "row"));
    assert!(listed.list("/pages").iter().any(|page| page["title"] == "one more"));
}
