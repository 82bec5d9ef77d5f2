//! What buckets have beside their settings: lifecycle rules, CORS rules and tags, over REST and S3 alike.

use domain::storage::{CorsRules, LifecycleRules, Tags};
use serde::{Serialize, de::DeserializeOwned};

use super::{BucketNo, BucketSeen};
use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

/// One of the three, which replaces what the bucket had of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BucketRules {
    /// What becomes of files in time.
    Lifecycle(LifecycleRules),
    /// Which pages may ask for files.
    Cors(CorsRules),
    /// Its tags.
    Tags(Tags),
}

const LIFECYCLE: &str = "lifecycle";
const CORS: &str = "cors";
const TAGS: &str = "tags";

impl BucketRules {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Lifecycle(_) => LIFECYCLE,
            Self::Cors(_) => CORS,
            Self::Tags(_) => TAGS,
        }
    }

    /// What is kept; nothing where there is none.
    fn text(&self) -> Option<String> {
        fn unless<T: Serialize>(is_empty: bool, rules: &T) -> Option<String> {
            (!is_empty).then(|| json::text(rules))
        }
        match self {
            Self::Lifecycle(rules) => unless(rules.as_slice().is_empty(), rules),
            Self::Cors(rules) => unless(rules.as_slice().is_empty(), rules),
            Self::Tags(tags) => unless(tags.is_empty(), tags),
        }
    }
}

row! {
    struct RulesRow {
        rules: String,
    }
}

impl Store {
    /// The bucket's lifecycle rules.
    pub async fn bucket_lifecycle(&self, no: BucketNo) -> Result<LifecycleRules, StoreError> {
        self.bucket_rules(no, LIFECYCLE).await
    }

    /// The bucket's CORS rules.
    pub async fn bucket_cors(&self, no: BucketNo) -> Result<CorsRules, StoreError> {
        self.bucket_rules(no, CORS).await
    }

    /// The bucket's tags.
    pub async fn bucket_tags(&self, no: BucketNo) -> Result<Tags, StoreError> {
        self.bucket_rules(no, TAGS).await
    }

    async fn bucket_rules<T: DeserializeOwned + Default>(&self, no: BucketNo, kind: &str) -> Result<T, StoreError> {
        let statement = "SELECT rules FROM bucket_rules WHERE bucket_no = $1 AND kind = $2";
        let found: Option<RulesRow> = self.reader().row(&Sql::new(statement, [no.0.into(), kind.into()])).await?;
        found.map_or_else(|| Ok(T::default()), |row| json::read("bucket_rules.rules", &row.rules))
    }
}

impl Change {
    /// Replaces rules of a bucket, and ends its epoch; stale where that is another one.
    pub fn bucket_rules_put(&mut self, seen: BucketSeen, rules: &BucketRules) {
        self.bucket_epoch_end(seen);
        let key = || [seen.no.0.into(), rules.kind().into()];
        if let Some(text) = rules.text() {
            let statement = "INSERT INTO bucket_rules (bucket_no, kind, rules) VALUES ($1, $2, $3) \
                             ON CONFLICT (bucket_no, kind) DO UPDATE SET rules = excluded.rules";
            self.run_statement(Sql::new(statement, key().into_iter().chain([text.into()])), Expect::Rows(1));
        } else {
            let statement = "DELETE FROM bucket_rules WHERE bucket_no = $1 AND kind = $2";
            self.run_statement(Sql::new(statement, key()), Expect::Any);
        }
    }
}
