use domain::id::UserId;
use domain::pages::{Page, PageKind};

use super::*;
use crate::{Clock, testing};

row! {
    struct CountRow {
        count: i64,
    }
}

fn page(org_id: OrgId) -> Page {
    let now = Timestamp(0);
    Page {
        id: PageId::new(now),
        org_id,
        parent_id: None,
        kind: PageKind::Doc,
        is_row: false,
        title: "Ours".to_owned(),
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
        created_at: now,
        created_by: UserId::new(now),
        updated_at: now,
        updated_by: None,
    }
}

/// How many pages stand in the index under this word, whose ever they are.
async fn indexed(store: &Store, word: &str) -> i64 {
    let statement = match store.parts.connections.backend() {
        DbBackend::Postgres => {
            "SELECT COUNT(*) AS count FROM page_texts WHERE text_index @@ to_tsquery('page_search', $1)"
        }
        _ => "SELECT COUNT(*) AS count FROM page_words WHERE page_words MATCH $1",
    };
    let counted = store.reader().row::<CountRow>(&Sql::new(statement, [word.into()])).await.unwrap();
    counted.unwrap().count
}

#[tokio::test]
async fn a_word_stands_in_the_index_once_for_each_organization() {
    for scratch in testing::backends().await {
        let store = scratch.store(Clock::system()).await.unwrap();
        let organizations = [OrgId::new(Timestamp(0)), OrgId::new(Timestamp(0))];
        for org_id in organizations {
            let mut change = Change::new();
            change.page_add(&page(org_id));
            store.commit(change).await.unwrap();
        }
        assert_eq!(indexed(&store, "ours").await, 0, "nobody's word");
        for org_id in organizations {
            assert_eq!(indexed(&store, &format!("{}ours", org_letters(org_id))).await, 1);
        }
    }
}
