//! Configuration: which layer wins, and what stops the start.

use domain::account::Registration;
use troupe::config::{Config, Sources};

fn environment(pairs: &[(&str, &str)]) -> Sources {
    Sources {
        environment: pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        ..Sources::default()
    }
}

fn flags(flags: &[&str]) -> Sources {
    Sources { flags: flags.iter().map(|flag| (*flag).into()).collect(), ..Sources::default() }
}

fn refusal(sources: &Sources) -> String {
    Config::load(sources).expect_err("a refusal").to_string()
}

#[test]
fn the_defaults_are_complete_and_do_not_contradict_each_other() {
    let config = Config::load(&Sources::default()).expect("the defaults");
    assert_eq!(config.vault.max_items, 10_000);
    assert_eq!(config.accounts.registration, Registration::Invite);
    assert_eq!(config.shutdown.grace.as_secs(), 10);
    assert_eq!(config.database_url(), "sqlite://data/troupe.sqlite?mode=rwc");
}

#[test]
fn a_file_is_stronger_than_the_defaults_the_environment_than_a_file_and_flags_than_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("troupe.toml");
    std::fs::write(&file, "[vault]\nmax_items = 1\n[shutdown]\ngrace = \"1s\"\n[log]\nlevel = \"warn\"\n")
        .expect("a file");
    let mut sources = environment(&[
        ("TROUPE_VAULT__MAX_ITEMS", "2"),
        ("TROUPE_SHUTDOWN__GRACE", "2m"),
        ("TROUPE_TEST_DATABASE_URL", "x"),
    ]);
    sources.file = Some(file);
    sources.flags = vec!["vault.max_items=3".into()];
    let config = Config::load(&sources).expect("a configuration");
    assert_eq!(config.vault.max_items, 3);
    assert_eq!(config.shutdown.grace.as_secs(), 120);
    assert_eq!(config.log.level, "warn");
}

#[test]
fn lists_in_the_environment_are_separated_by_commas() {
    let config = Config::load(&environment(&[("TROUPE_SERVER__CORS_ORIGINS", "https://a.example, https://b.example")]))
        .expect("a configuration");
    assert_eq!(config.server.cors_origins, ["https://a.example", "https://b.example"]);
}

#[test]
fn an_unknown_key_stops_the_start_and_is_named_with_who_set_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, "[vault]\nmax_itms = 1\n").expect("a file");
    let from_file = refusal(&Sources { file: Some(file), ..Sources::default() });
    assert!(
        from_file.contains("`vault.max_itms`")
            && from_file.contains("mine.toml")
            && from_file.contains("`vault.max_items`"),
        "{from_file}"
    );
    let from_environment = refusal(&environment(&[("TROUPE_VALUT__MAX_ITEMS", "1")]));
    assert!(
        from_environment.contains("`valut.max_items`") && from_environment.contains("TROUPE_VALUT__MAX_ITEMS"),
        "{from_environment}"
    );
    assert!(refusal(&flags(&["nothing=1"])).contains("`nothing`"));
}

#[test]
fn a_bad_value_stops_the_start_and_is_named_with_who_set_it() {
    let number = refusal(&environment(&[("TROUPE_VAULT__MAX_ITEMS", "many")]));
    assert!(
        number.contains("`vault.max_items`") && number.contains("TROUPE_VAULT__MAX_ITEMS") && number.contains("`many`"),
        "{number}"
    );
    let negative = refusal(&flags(&["vault.max_items=-1"]));
    assert!(negative.contains("`vault.max_items`") && negative.contains("a flag"), "{negative}");
    let duration = refusal(&flags(&["shutdown.grace=soon"]));
    assert!(duration.contains("`shutdown.grace`"), "{duration}");
    let choice = refusal(&flags(&["accounts.registration=maybe"]));
    assert!(choice.contains("`accounts.registration`") && choice.contains("maybe"), "{choice}");
}

#[test]
fn settings_that_contradict_each_other_are_reported_together() {
    let refusal = refusal(&flags(&[
        "blobs.kind=s3",
        "operators.listen=127.0.0.1:8080",
        "mail.username=me",
        "texts.account_sid=AC1",
        "apns.key_file=key.p8",
        "web_push.key_file=key.pem",
        "pipelines.cache_quota=5368709119",
    ]));
    for word in [
        "blobs.bucket",
        "operators.listen",
        "mail.host",
        "texts.auth_token",
        "apns.team_id",
        "web_push.contact",
        "cache_max",
    ] {
        assert!(refusal.contains(word), "{word} in {refusal}");
    }
}

#[test]
fn a_missing_file_that_was_named_stops_the_start() {
    let refusal = refusal(&Sources { file: Some("/nowhere/troupe.toml".into()), ..Sources::default() });
    assert!(refusal.contains("/nowhere/troupe.toml"), "{refusal}");
}
