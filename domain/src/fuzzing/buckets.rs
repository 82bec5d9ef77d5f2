//! Buckets: names, tags, CORS rules, headers of files, and lifecycle rules.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    Timestamp,
    id::ResourceId,
    storage::{
        AgedVersion, BucketName, CorsMethod, CorsRequest, CorsRule, CorsRules, FILE_TAGS, Fate, FileHeaders, FileKey,
        LifecycleRule, LifecycleRules, RESOURCE_TAGS, Tag, Tags, Version, VersionKind, VersionName, VersionStamp,
    },
};

/// A bucket, and some of what is in it.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Asked {
    name: String,
    tags: Vec<Tag>,
    cors: Vec<CorsRule>,
    origin: String,
    headers: Option<FileHeaders>,
    lifecycle: Vec<LifecycleRule>,
    key: String,
    size: u64,
    made_at: i64,
    now: i64,
}

/// JSON of all that. What passes the checks is stored and read back, and rules do what they tell beforehand.
pub fn buckets(bytes: &[u8]) {
    let Ok(asked) = serde_json::from_slice::<Asked>(bytes) else { return };
    name_holds(&asked.name);
    if let Some(Ok(headers)) = asked.headers.clone().map(FileHeaders::check) {
        assert_eq!(stored(&headers), headers);
        assert_eq!(headers.clone().check().ok(), Some(headers));
    }
    if let Ok(rules) = CorsRules::check(asked.cors.clone()) {
        cors_holds(&rules, &asked.origin);
    }
    let tags = Tags::check("tags", asked.tags.clone(), FILE_TAGS).unwrap_or_default();
    assert!(stored(&tags) == tags && tags.contains(&tags) && tags.contains(&Tags::default()));
    let _ = Tags::check("tags", asked.tags.clone(), RESOURCE_TAGS);
    let rules = LifecycleRules::check(asked.lifecycle.clone());
    if let (Ok(rules), Ok(key)) = (rules, FileKey::parse(asked.key.as_str())) {
        assert_eq!(stored(&rules), rules);
        assert_eq!(LifecycleRules::check(rules.as_slice().to_vec()).ok().as_ref(), Some(&rules));
        lifecycle_holds(&rules, &key, &asked, &tags);
    }
}

fn stored<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("what is kept can be written");
    serde_json::from_str(&text).expect("what was written can be read")
}

fn name_holds(text: &str) {
    let Ok(name) = BucketName::parse("name", text) else { return };
    assert_eq!(name.as_str(), text);
    let physical = name.physical(ResourceId::new(Timestamp(1_700_000_000_000)));
    assert_eq!(BucketName::parse("name", physical.as_str()).ok(), Some(physical));
}

fn cors_holds(rules: &CorsRules, origin: &str) {
    assert_eq!(stored(rules), *rules);
    for method in CorsMethod::ALL {
        let request = CorsRequest { origin, method: *method, headers: &[] };
        let found = rules.find(&request);
        assert!(found.is_none_or(|rule| rule.methods.contains(method) && !rule.origins.is_empty()));
        let open = |rule: &&CorsRule| rule.is_for_everybody() && rule.methods.contains(method);
        assert!(found.is_some() || !rules.as_slice().iter().any(|rule| open(&rule)), "everybody may ask");
        // Who may ask with headers may ask without.
        assert!(found.is_some() || rules.find(&CorsRequest { headers: &["x-a"], ..request }).is_none());
    }
}

fn lifecycle_holds(rules: &LifecycleRules, key: &FileKey, asked: &Asked, tags: &Tags) {
    let (made_at, now) = (Timestamp(asked.made_at), Timestamp(asked.now));
    let stamp = VersionStamp::next(made_at, None);
    let version = |kind| Version { stamp, name: VersionName::Stamp, kind, locked_until: None };
    let content = version(VersionKind::Content);
    let file = AgedVersion { version: content, made_at, ended_at: None, size: asked.size, tags };
    let marker = AgedVersion { version: version(VersionKind::DeleteMarker), ..file };
    let old = AgedVersion { ended_at: Some(made_at), ..file };
    let at = |now| {
        let (mut run, mut alone, mut covered) = (rules.run(key, now), rules.run(key, now), rules.run(key, now));
        let (newest, below) = (run.show(&file), run.show(&old));
        assert!(run.finish().is_none(), "there is content");
        alone.show(&marker);
        covered.show(&marker);
        let is_bare = covered.show(&old) == Fate::VersionExpires;
        let (alone, covered) = (alone.finish(), covered.finish());
        assert!(covered.is_none() || is_bare && alone.is_some(), "a marker over content stays");
        (newest == Fate::FileExpires, below == Fate::VersionExpires, alone.is_some())
    };
    let (before, after) = (at(now), at(Timestamp(now.0.saturating_add(86_400_000))));
    assert_eq!(before.0, rules.expiry(key, &file).is_some_and(|expiry| expiry.at <= now), "as was told");
    assert!((!before.0 || after.0) && (!before.1 || after.1) && (!before.2 || after.2), "what is due stays due");
    assert!(rules.upload_due(key, made_at) >= made_at);
}
