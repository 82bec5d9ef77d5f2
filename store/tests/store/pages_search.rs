//! Full text of pages, on both databases.

use domain::{
    Timestamp,
    id::{OrgId, PageId, UserId},
    pages::{Page, PageKind, content::ContentDraft, search::Question},
};
use store::{Change, Clock, Store, pages::PageContentWrite, testing};

use crate::{START, commit, open};

fn page(org_id: OrgId, title: &str) -> Page {
    Page {
        id: PageId::new(START),
        org_id,
        parent_id: None,
        kind: PageKind::Doc,
        is_row: false,
        title: title.to_owned(),
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
        created_at: START,
        created_by: UserId::new(START),
        updated_at: START,
        updated_by: None,
    }
}

/// Writes a content over the one of the version `replaces`.
fn write(change: &mut Change, page: &Page, replaces: i64, markdown: &str) {
    let draft = ContentDraft { blocks: None, markdown: markdown.to_owned() };
    change.page_content_write(PageContentWrite { page_id: page.id, replaces, draft, now: START, by: None });
}

async fn found(store: &Store, org_id: OrgId, question: &str) -> Vec<String> {
    let Some(question) = Question::parse(question) else { return Vec::new() };
    let hits = store.pages_search(org_id, &question).await.expect("searches");
    hits.into_iter().map(|hit| hit.title).collect()
}

fn joined(words: impl IntoIterator<Item: ToString>) -> String {
    words.into_iter().map(|word| word.to_string()).collect::<Vec<_>>().join(" ")
}

/// A store on each database, with an organization.
async fn with_stores(test: impl AsyncFn(Store, OrgId)) {
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::system()).await;
        test(store, OrgId::new(START)).await;
    }
}

#[tokio::test]
async fn titles_go_before_texts_and_words_are_found_by_stem_and_beginning() {
    with_stores(async |store, org_id| {
        let pages = ["Notes", "Running in Vienna", "Über Cafés"].map(|title| page(org_id, title));
        commit(&store, |change| {
            for page in &pages {
                change.page_add(page);
            }
            write(change, &pages[0], 0, "We ran. The runner runs, running runs; *vienna* again. 東京");
            write(change, &pages[1], 0, "Nothing here.");
        })
        .await;
        for (question, expected) in [
            ("running", vec!["Running in Vienna", "Notes"]),
            ("runs", vec!["Running in Vienna", "Notes"]),
            ("RUNN", vec!["Running in Vienna", "Notes"]),
            ("runni", vec!["Running in Vienna", "Notes"]),
            ("vienna run", vec!["Running in Vienna", "Notes"]),
            ("vien run", vec![]),
            ("uber cafe", vec!["Über Cafés"]),
            ("CAFÉS", vec!["Über Cafés"]),
            ("in", vec!["Running in Vienna"]),
            ("the", vec!["Notes"]),
            ("京", vec!["Notes"]),
            ("notes vienna", vec!["Notes"]),
            ("nowhere", vec![]),
        ] {
            assert_eq!(found(&store, org_id, question).await, expected, "{question}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_changes_is_found_by_its_new_words_only() {
    with_stores(async |store, org_id| {
        let mut changed = page(org_id, "Alpha");
        commit(&store, |change| {
            change.page_add(&changed);
            write(change, &changed, 0, "first");
        })
        .await;
        changed.title = "Beta".to_owned();
        commit(&store, |change| change.page_set(&changed)).await;
        commit(&store, |change| write(change, &changed, 1, "second")).await;
        for (question, is_found) in [("alpha", false), ("beta", true), ("first", false), ("second", true)] {
            assert_eq!(!found(&store, org_id, question).await.is_empty(), is_found, "{question}");
        }
        changed.version += 1;
        changed.archived_at = Some(Timestamp(1));
        commit(&store, |change| change.page_set(&changed)).await;
        assert!(found(&store, org_id, "beta").await.is_empty(), "what is in the trash is not found");
        assert!(store.pages_recent(org_id).await.expect("reads").is_empty());
        commit(&store, |change| change.page_remove(changed.id, Timestamp(2))).await;
        // Its words may come again: nothing of the old page is in the way.
        let again = page(org_id, "Beta");
        commit(&store, |change| change.page_add(&again)).await;
        assert_eq!(found(&store, org_id, "beta").await, ["Beta"]);
        commit(&store, |change| change.pages_take(org_id, Timestamp(3))).await;
        assert!(found(&store, org_id, "beta").await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_organization_finds_its_own_pages() {
    with_stores(async |store, org_id| {
        let other = OrgId::new(START);
        let pages = [page(org_id, "Ours"), page(other, "Ours too")];
        for page in &pages {
            commit(&store, |change| change.page_add(page)).await;
        }
        assert_eq!(found(&store, org_id, "ours").await, ["Ours"]);
        assert_eq!(found(&store, other, "ours").await, ["Ours too"]);
        let word = other.to_string().split_off(4);
        assert!(found(&store, org_id, &word).await.is_empty(), "the word of an organization is nobody's to look for");
    })
    .await;
}

#[tokio::test]
async fn organizations_whose_letters_are_the_same_find_their_own_pages_all_the_same() {
    // `a` and `p` stand as the same letter in the index.
    let [one, other] = ["a", "p"].map(|last| format!("org_01jd7rt4m5e9fv2w8x3c6k0hq{last}"));
    let [one, other] = [one, other].map(|id| id.parse::<OrgId>().expect("an id"));
    for scratch in testing::backends().await {
        let store = open(&scratch, &Clock::system()).await;
        for page in [page(one, "Ours"), page(other, "Ours too")] {
            commit(&store, |change| change.page_add(&page)).await;
        }
        assert_eq!(found(&store, one, "ours").await, ["Ours"]);
        assert_eq!(found(&store, other, "ours").await, ["Ours too"]);
    }
}

#[tokio::test]
async fn one_letter_finds_itself_and_not_all_that_begins_with_it() {
    with_stores(async |store, org_id| {
        for title in ["Plan b", "Berlin", "Bees"] {
            commit(&store, |change| change.page_add(&page(org_id, title))).await;
        }
        assert_eq!(found(&store, org_id, "b").await, ["Plan b"]);
        assert_eq!(found(&store, org_id, "be").await.len(), 2);
        let found = found(&store, org_id, "bs").await;
        assert!(!found.contains(&"Berlin".to_owned()), "the letter before the `s` is no beginning either: {found:?}");
    })
    .await;
}

#[tokio::test]
async fn no_question_is_read_as_a_language() {
    with_stores(async |store, org_id| {
        let hostile = page(org_id, "AND OR NOT near 1e5 0x1f 12abc a.b@example.com");
        commit(&store, |change| {
            change.page_add(&hostile);
            write(change, &hostile, 0, "'quoted' \"double\" \\ :* {org} : x ^ 1e5 https://example.com/a-b?c=d");
        })
        .await;
        for question in [
            "AND",
            "OR",
            "NOT",
            "near",
            "1e5",
            "0x1f",
            "12abc",
            "a.b@example.com",
            "\"double\"",
            "'quoted'",
            "org : x",
            "https://example.com/a-b?c=d",
            "x ^",
            "{org} :",
        ] {
            assert_eq!(found(&store, org_id, question).await.len(), 1, "{question}");
        }
        for question in [
            "\"",
            "'",
            "''",
            "*",
            "a*b\"c",
            ":*",
            "(",
            ")",
            "a AND",
            "NEAR(a b)",
            "title:x",
            "-x",
            "+",
            "\\",
            "\u{0}",
            "%",
            "' OR 1=1 --",
            "a:b:c",
            "<->",
            "!",
            "&|",
            "\u{301}\u{301}",
            "🦀",
            &"x".repeat(200),
            &"\u{6771}".repeat(200),
            &"a ".repeat(100),
            &joined(0..100),
        ] {
            found(&store, org_id, question).await;
        }
    })
    .await;
}

#[tokio::test]
async fn the_longest_texts_are_kept_and_found() {
    with_stores(async |store, org_id| {
        let long = page(org_id, &"é".repeat(200));
        // Each word is another one, which is what an index has least room for.
        let words = joined((0..200_000_u32).map(|number| format!("{number:x}g")));
        commit(&store, |change| {
            change.page_add(&long);
            write(change, &long, 0, &words);
        })
        .await;
        assert_eq!(found(&store, org_id, "1000g").await.len(), 1);
        commit(&store, |change| write(change, &long, 1, &"x".repeat(1_048_576))).await;
        assert_eq!(found(&store, org_id, &"x".repeat(64)).await.len(), 1);
    })
    .await;
}
