//! Ten queries of different shapes, each with the statement that one would write by hand.

use super::texts::{label, word};

/// What a page of a search has.
pub const PAGE: usize = 50;

/// A query, and the same by hand.
pub struct Shape {
    pub name: &'static str,
    /// The query; `SPACE` stands for the key of a space.
    pub jql: String,
    /// What stands between FROM and the order: a condition on `issues i`, and what is joined before.
    pub from: &'static str,
    /// What stands behind ORDER BY.
    pub order: &'static str,
    /// What is bound, by what it is.
    pub values: Vec<Bound>,
}

/// A value of a statement.
pub enum Bound {
    /// The number of a value of a kind.
    No(&'static str, String),
    /// The number of the space.
    Space,
    /// The number of the reader.
    Reader,
    /// A question for the index of words.
    Word(String),
    /// The instant that lies so many days back.
    DaysBack(i64),
    /// A number.
    Number(f64),
}

const WORDS: &str = "issue_words CROSS JOIN issue_texts t ON t.no = issue_words.rowid CROSS JOIN issues i ON i.seq = t.seq \
                     WHERE issue_words MATCH ?1 AND i.deleted_at IS NULL";

/// All of them.
pub fn shapes() -> Vec<Shape> {
    let text = |name, rank| Shape {
        name,
        jql: format!("text ~ {}", word(rank)),
        from: WORDS,
        order: "i.updated DESC, i.seq",
        values: vec![Bound::Word(word(rank))],
    };
    vec![
        Shape {
            name: "newest",
            jql: "order by created desc".to_owned(),
            from: "issues i WHERE i.org_no = ?1 AND i.deleted_at IS NULL",
            order: "i.created DESC, i.seq",
            values: vec![Bound::No("org", String::new())],
        },
        Shape {
            name: "space_and_status",
            jql: "space = SPACE and status = todo".to_owned(),
            from: "issues i WHERE i.space_no = ?1 AND i.status_no = ?2 AND i.deleted_at IS NULL",
            order: "i.updated DESC, i.seq",
            values: vec![Bound::Space, Bound::No("status", "todo".to_owned())],
        },
        Shape {
            name: "mine",
            jql: "assignee = currentUser() and statusCategory != Done".to_owned(),
            from: "issues i WHERE i.org_no = ?1 AND i.assignee_no = ?2 AND i.category IN (0, 1) AND i.deleted_at IS NULL",
            order: "i.updated DESC, i.seq",
            values: vec![Bound::No("org", String::new()), Bound::Reader],
        },
        Shape {
            name: "label",
            jql: format!("labels = {}", label(17)),
            from: "issue_terms t CROSS JOIN issues i ON i.seq = t.seq \
                   WHERE t.value_no = ?1 AND t.field = 'labels' AND i.deleted_at IS NULL",
            order: "i.updated DESC, i.seq",
            values: vec![Bound::No("label", label(17))],
        },
        Shape {
            name: "recent_bugs",
            jql: "created >= -30d and type = bug".to_owned(),
            from: "issues i WHERE i.org_no = ?1 AND i.created >= ?2 AND i.type_no = ?3 AND i.deleted_at IS NULL",
            order: "i.updated DESC, i.seq",
            values: vec![Bound::No("org", String::new()), Bound::DaysBack(30), Bound::No("type", "bug".to_owned())],
        },
        text("rare_word", 19_000),
        text("middling_word", 1_500),
        text("frequent_word", 30),
        Shape {
            name: "rank",
            jql: "space = SPACE order by rank".to_owned(),
            from: "issues i WHERE i.space_no = ?1 AND i.deleted_at IS NULL",
            order: "i.rank, i.seq",
            values: vec![Bound::Space],
        },
        Shape {
            name: "points_and_priority",
            jql: "storyPoints = 5 and priority = High and status = done".to_owned(),
            from: "issues i WHERE i.org_no = ?1 AND i.status_no = ?2 AND i.story_points = ?3 AND i.priority_no = ?4 \
                   AND i.deleted_at IS NULL",
            order: "i.updated DESC, i.seq",
            values: vec![
                Bound::No("org", String::new()),
                Bound::No("status", "done".to_owned()),
                Bound::Number(5.0),
                Bound::No("priority", "high".to_owned()),
            ],
        },
    ]
}
