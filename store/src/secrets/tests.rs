//! Sealed cells, in memory and in both databases.

use domain::{
    App, Email, Timestamp,
    id::{JobId, OrgId, ResourceId, SignInId, UserId},
    notify::PushPlatform,
    otp::OtpSecret,
    pipelines::values::{SecretsNamed, ValueKind, ValueName, ValueText},
};
use sea_orm::ConnectionTrait;

use super::{Cell, SecretError, SecretsError};
use crate::{
    Change, Clock, Expect, PushDevice, PushKey, Store, StoreOptions,
    accounts::Person,
    git::RepositoryNo,
    pipelines::{GivenToJob, ValueGiven, ValueScope},
    sql::Sql,
    testing::{self, Scratch, secret_keys},
};

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const CELL: Cell<'_> = Cell { table: "people", column: "otp_secret", row: &["usr_1"] };

#[test]
fn a_cell_opens_where_it_was_sealed_and_nowhere_else() {
    let keys = secret_keys([1]);
    let sealed = keys.seal(&CELL, b"secret").unwrap();
    assert_eq!(keys.open(&CELL, &sealed).unwrap(), b"secret");
    let elsewhere = [
        Cell { row: &["usr_2"], ..CELL },
        Cell { column: "otp_pending", ..CELL },
        Cell { table: "persons", ..CELL },
        Cell { row: &["usr", "_1"], ..CELL },
        Cell { row: &[], column: "otp_secretusr_1", ..CELL },
    ];
    for cell in elsewhere {
        assert_eq!(keys.open(&cell, &sealed), Err(SecretError::Damaged), "{cell:?}");
    }
}

#[test]
fn no_bit_of_a_cell_can_be_changed() {
    let keys = secret_keys([1]);
    let sealed = keys.seal(&CELL, b"secret").unwrap();
    for place in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        assert!(keys.open(&CELL, &changed).is_err(), "byte {place}");
        assert!(keys.open(&CELL, &sealed[..place]).is_err(), "{place} bytes");
    }
    assert_eq!(keys.open(&CELL, b"secret"), Err(SecretError::NotSealed));
}

#[test]
fn no_text_of_a_cell_can_be_changed() {
    let keys = secret_keys([1]);
    let sealed = keys.seal_text(&CELL, "secret").unwrap();
    assert_eq!(keys.open_text(&CELL, &sealed).unwrap(), "secret");
    for place in 0..sealed.len() {
        let changed = format!("{}~{}", &sealed[..place], &sealed[place + 1..]);
        assert!(keys.open_text(&CELL, &changed).is_err(), "{changed}");
    }
    assert_eq!(keys.open_text(&CELL, "secret"), Err(SecretError::NotSealed));
}

#[test]
fn the_first_key_seals_and_each_opens() {
    let (old, both, new) = (secret_keys([1]), secret_keys([2, 1]), secret_keys([2]));
    let sealed = old.seal(&CELL, b"secret").unwrap();
    assert_eq!(both.open(&CELL, &sealed).unwrap(), b"secret");
    assert_eq!(new.open(&CELL, &sealed), Err(SecretError::UnknownKey(old.sealing_id())));
    assert_eq!(new.open(&CELL, &both.seal(&CELL, b"secret").unwrap()).unwrap(), b"secret");
}

#[test]
fn what_keys_are_shown_as_is_their_ids() {
    assert_eq!(format!("{:?}", secret_keys([1])), format!("[{:?}]", secret_keys([1]).sealing_id()));
}

fn person(number: usize) -> Person {
    Person {
        id: UserId::new(NOW),
        email: Email::parse("email", &format!("ada{number}@example.com")).unwrap(),
        name: "Ada".into(),
        password_hash: "hash".into(),
        password_change_due: false,
        locale: None,
        time_zone: None,
        phone: None,
        otp_secret: Some(OtpSecret::generate().unwrap()),
        otp_pending: None,
        otp_last_step: 0,
        version: 1,
        created_at: NOW,
        updated_at: NOW,
    }
}

fn device(user_id: UserId) -> PushDevice {
    PushDevice {
        key: PushKey { user_id, device_id: "install-1".into(), app: App::Account },
        sign_in_id: SignInId::new(NOW),
        platform: PushPlatform::Android,
        token: "the-token-of-the-push-device".into(),
        attrs: crate::notify::DeviceAttrs::default(),
        created_at: NOW,
        updated_at: NOW,
    }
}

async fn open_with<const COUNT: usize>(scratch: &Scratch, keys: [u8; COUNT]) -> Store {
    let options = StoreOptions { secrets: secret_keys(keys), ..scratch.options() };
    let store = Store::connect(&options, Clock::manual(NOW)).await.unwrap();
    store.migrate().await.unwrap();
    store
}

async fn commit(store: &Store, add: impl FnOnce(&mut Change)) {
    let mut change = Change::new();
    add(&mut change);
    store.commit(change).await.unwrap();
}

async fn execute(store: &Store, sql: &str) {
    store.parts.connections.writer.execute_unprepared(sql).await.unwrap();
}

/// Writes everybody's second factor as programs did that had no keys.
async fn plain_otp(store: &Store, secret: &OtpSecret) {
    let mut change = Change::new();
    let plain = Sql::new("UPDATE people SET otp_secret = $1", [secret.as_bytes().to_vec().into()]);
    change.run_statement(plain, Expect::Any);
    store.commit(change).await.unwrap();
}

#[tokio::test]
async fn no_secret_stands_in_the_database_as_it_is() {
    let scratch = Scratch::sqlite().unwrap();
    let store = open_with(&scratch, [1]).await;
    store.secrets_prepare().await.unwrap();
    let (ada, phone) = (person(0), device(UserId::new(NOW)));
    commit(&store, |change| {
        change.person_add(&ada);
        change.push_device_put(&phone);
    })
    .await;
    assert_eq!(store.person(ada.id).await.unwrap().as_ref(), Some(&ada));
    assert_eq!(store.push_device(&phone.key).await.unwrap().as_ref(), Some(&phone));
    store.close().await;
    let secret = ada.otp_secret.unwrap();
    for file in std::fs::read_dir(scratch.folder()).unwrap() {
        let path = file.unwrap().path();
        let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { continue };
        let holds = |secret: &[u8]| bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!holds(secret.as_bytes()), "the second factor in {}", path.display());
        assert!(!holds(phone.token.as_bytes()), "the token in {}", path.display());
    }
}

#[tokio::test]
async fn a_secret_that_was_put_into_another_persons_row_does_not_open() {
    for scratch in testing::backends().await {
        let store = open_with(&scratch, [1]).await;
        store.secrets_prepare().await.unwrap();
        let (ada, eve) = (person(0), person(1));
        commit(&store, |change| {
            change.person_add(&ada);
            change.person_add(&eve);
        })
        .await;
        let (of, from) = (ada.id, eve.id);
        execute(
            &store,
            &format!(
                "UPDATE people SET otp_secret = (SELECT otp_secret FROM people WHERE id = '{from}') WHERE id = '{of}'"
            ),
        )
        .await;
        let error = store.person(ada.id).await.unwrap_err().to_string();
        assert!(error.contains("belongs to another row"), "{error}");
        assert!(store.person(eve.id).await.is_ok());
    }
}

#[tokio::test]
async fn a_server_without_a_key_of_its_database_does_not_start() {
    for scratch in testing::backends().await {
        open_with(&scratch, [1]).await.secrets_prepare().await.unwrap();
        let error = open_with(&scratch, [2]).await.secrets_prepare().await.unwrap_err();
        assert!(matches!(error, SecretsError::MissingKey(id) if id == secret_keys([1]).sealing_id()));
        open_with(&scratch, [2, 1]).await.secrets_prepare().await.unwrap();
        // Secrets may be sealed under both by now.
        assert!(open_with(&scratch, [1]).await.secrets_prepare().await.is_err());
    }
}

#[tokio::test]
async fn secrets_of_an_older_database_are_sealed_at_the_first_start_and_plain_ones_refused_from_then_on() {
    for scratch in testing::backends().await {
        let store = open_with(&scratch, [1]).await;
        let mut ada = person(0);
        ada.otp_secret = None;
        commit(&store, |change| change.person_add(&ada)).await;
        let secret = OtpSecret::generate().unwrap();
        plain_otp(&store, &secret).await;
        store.secrets_prepare().await.unwrap();
        assert_eq!(store.person(ada.id).await.unwrap().unwrap().otp_secret.as_ref(), Some(&secret));
        plain_otp(&store, &secret).await;
        store.secrets_prepare().await.unwrap();
        assert!(store.person(ada.id).await.unwrap_err().to_string().contains("not sealed"));
    }
}

#[tokio::test]
async fn after_a_rekey_the_old_key_is_needed_no_more() {
    for scratch in testing::backends().await {
        let store = open_with(&scratch, [1]).await;
        store.secrets_prepare().await.unwrap();
        // More than one batch.
        let people: Vec<_> = (0..501).map(person).collect();
        let phone = device(people[0].id);
        commit(&store, |change| {
            for person in &people {
                change.person_add(person);
            }
            change.push_device_put(&phone);
        })
        .await;
        let both = open_with(&scratch, [2, 1]).await;
        both.secrets_prepare().await.unwrap();
        let rekeyed = both.secrets_rekey().await.unwrap();
        assert_eq!((rekeyed.sealed, rekeyed.unreadable.as_slice()), (502, [].as_slice()));
        assert_eq!(both.secrets_rekey().await.unwrap().sealed, 0, "what is done is done");
        let new = open_with(&scratch, [2]).await;
        new.secrets_prepare().await.unwrap();
        for person in &people {
            assert_eq!(new.person(person.id).await.unwrap().as_ref(), Some(person));
        }
        assert_eq!(new.push_device(&phone.key).await.unwrap().as_ref(), Some(&phone));
    }
}

#[tokio::test]
async fn a_rekey_that_finds_something_unreadable_says_so_and_keeps_the_old_key() {
    for scratch in testing::backends().await {
        let store = open_with(&scratch, [1]).await;
        store.secrets_prepare().await.unwrap();
        let (ada, phone) = (person(0), device(UserId::new(NOW)));
        commit(&store, |change| {
            change.person_add(&ada);
            change.push_device_put(&phone);
        })
        .await;
        execute(&store, "UPDATE push_devices SET token = 'plain'").await;
        let both = open_with(&scratch, [2, 1]).await;
        both.secrets_prepare().await.unwrap();
        let rekeyed = both.secrets_rekey().await.unwrap();
        assert_eq!(rekeyed.sealed, 1);
        assert!(rekeyed.unreadable[0].starts_with("push_devices.token of"), "{:?}", rekeyed.unreadable);
        assert!(open_with(&scratch, [2]).await.secrets_prepare().await.is_err());
    }
}

fn pipeline_secret(scope: &ValueScope, name: &str, value: &str) -> ValueGiven {
    ValueGiven {
        scope: scope.clone(),
        org_id: OrgId::new(NOW),
        name: ValueName::parse("name", name).unwrap(),
        value: ValueText::parse(ValueKind::Secret, "value", value).unwrap(),
        repositories: None,
        by: UserId::new(NOW),
    }
}

#[tokio::test]
async fn secrets_of_pipelines_are_sealed_where_they_stand_and_sealed_anew() {
    const PLAIN: &str = "the-value-of-a-pipelines-secret";
    for scratch in testing::backends().await {
        let store = open_with(&scratch, [1]).await;
        store.secrets_prepare().await.unwrap();
        let (id, no, job_id) = (ResourceId::new(NOW), RepositoryNo(7), JobId::new(NOW));
        let scope = ValueScope::Repository { id, no };
        let environment = ValueScope::Environment { id, no, key: "production".into() };
        let given = GivenToJob { secrets: [("A".to_owned(), PLAIN.to_owned())].into(), ..GivenToJob::default() };
        commit(&store, |change| {
            change.pipeline_value_put(ValueKind::Secret, &pipeline_secret(&scope, "A", PLAIN), NOW);
            change.pipeline_value_put(ValueKind::Secret, &pipeline_secret(&environment, "B", PLAIN), NOW);
            change.given_to_job_put(no, job_id, &given);
        })
        .await;
        let read = async |store: &Store, scope: &ValueScope| {
            store.pipeline_secrets_for(std::slice::from_ref(scope), id, &SecretsNamed::All).await
        };
        assert_eq!(read(&store, &scope).await.unwrap()["A"], PLAIN);
        assert_eq!(store.given_to_job(job_id).await.unwrap().as_ref(), Some(&given));
        store.close().await;

        let store = open_with(&scratch, [2, 1]).await;
        store.secrets_prepare().await.unwrap();
        assert_eq!(store.secrets_rekey().await.unwrap().sealed, 3);
        store.close().await;
        let store = open_with(&scratch, [2]).await;
        assert_eq!(read(&store, &scope).await.unwrap()["A"], PLAIN);
        assert_eq!(read(&store, &environment).await.unwrap()["B"], PLAIN);
        assert_eq!(store.given_to_job(job_id).await.unwrap(), Some(given));

        // A cell belongs to its scope and name.
        execute(&store, "UPDATE pipeline_secrets SET name = 'C' WHERE name = 'B'").await;
        assert!(read(&store, &environment).await.is_err());
        execute(&store, "UPDATE pipeline_secrets SET scope = 'repo' WHERE name = 'A'").await;
        assert!(read(&store, &scope).await.is_ok());
        execute(&store, "UPDATE pipeline_secrets SET scope = 'env' WHERE name = 'A'").await;
        execute(&store, "UPDATE pipeline_secrets SET scope_id = scope_id || '/production' WHERE name = 'A'").await;
        execute(&store, "DELETE FROM pipeline_secrets WHERE name = 'C'").await;
        assert!(read(&store, &environment).await.is_err());
        store.close().await;
        if scratch.folder().is_dir() {
            for file in std::fs::read_dir(scratch.folder()).unwrap() {
                let path = file.unwrap().path();
                let bytes = if path.is_file() { std::fs::read(&path).unwrap() } else { continue };
                let holds = bytes.windows(PLAIN.len()).any(|window| window == PLAIN.as_bytes());
                assert!(!holds, "a secret in {}", path.display());
            }
        }
    }
}
