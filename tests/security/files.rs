//! The data folder holds secrets; other users of the machine read none of it.

#![cfg(unix)]

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use store::{Clock, Store};
use troupe::{
    config::{Config, Sources},
    program,
};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

async fn opened(folder: &Path) -> Store {
    let flags = vec![format!("data.dir={}", folder.display())];
    let config = Config::load(&Sources { flags, ..Sources::default() }).unwrap();
    program::open_store(&config, Clock::system()).await.unwrap()
}

#[tokio::test]
async fn only_the_servers_own_user_reads_the_data_folder() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("troupe").join("data");
    let _store = opened(&data).await;
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("secret")), 0o600);
}

#[tokio::test]
async fn the_database_is_private_in_a_folder_that_others_may_enter() {
    let data = tempfile::tempdir().unwrap();
    fs::set_permissions(data.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let _store = opened(data.path()).await;
    for file in ["troupe.sqlite", "troupe.sqlite-wal", "troupe.sqlite-shm"] {
        assert_eq!(mode(&data.path().join(file)), 0o600, "{file}");
    }
}
