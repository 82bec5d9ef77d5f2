//! `cache`: files of earlier runs come back, and new ones are kept at the end of the job. `cache/restore` and `cache/save` do one of
//! both, when their turn comes.
//!
//! A name in a cache's zip begins with the number of the path that it was found by, so that a file comes back to where it was on
//! this machine, in the workspace or outside of it, and nowhere else.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::{
    Call, Done, Outcome,
    archive::{Entry, Level, Names, pack, unpack},
    transfer,
};
use crate::runner::{
    words::Files,
    worker::{folder::Reach, glob::Patterns, view::hex},
};

/// The server's answer to a question for a cache (contract C 4.1).
#[derive(Deserialize)]
struct Restored {
    hit: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    url: String,
}

/// The server's answer to an offer.
#[derive(Deserialize)]
struct Saving {
    #[serde(default)]
    exists: bool,
    #[serde(default)]
    url: String,
}

/// How caches are packed: another way makes other versions.
const FORMAT: &str = "zip-2";
/// Where the first part leaves what the last one needs: steps may have changed what key and paths would come to by then.
const EXACT_STATE: &str = "exact";
const KEY_STATE: &str = "key";
const PATHS_STATE: &str = "paths";

impl Call {
    /// Brings the files back. A cache that can't be had is as good as none.
    pub(super) async fn cache_restore(&self) -> Outcome {
        let (key, paths) = self.key_and_paths()?;
        let found = match &self.files {
            Files::Here { .. } => Ok(("none".to_owned(), String::new())),
            Files::Server { token } => self.find(token, key, &paths).await,
        };
        let (hit, matched) = found.unwrap_or_else(|why| {
            self.output.warning(&format!("The cache wasn't restored: {why}"));
            ("none".to_owned(), String::new())
        });
        match hit.as_str() {
            "none" if self.is_true("fail-on-cache-miss") => return Err(format!("There is no cache for {key}.")),
            "none" => self.output.say(&format!("There is no cache for {key}")),
            _ if self.is_true("lookup-only") => self.output.say(&format!("There is a cache of key: {matched}")),
            _ => self.output.say(&format!("Cache restored from key: {matched}")),
        }
        let is_exact = hit == "exact";
        let mut outputs = vec![("cache-primary-key", key.to_owned())];
        // As at GitHub, a miss says nothing of how well it fits.
        if hit != "none" {
            outputs.extend([("cache-hit", is_exact.to_string()), ("cache-matched-key", matched)]);
        }
        let state = [(EXACT_STATE, is_exact.to_string()), (KEY_STATE, key.to_owned()), (PATHS_STATE, paths.join("\n"))];
        Ok(Done {
            outputs: outputs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            state: state.map(|(name, value)| (name.to_owned(), value)).into(),
        })
    }

    /// Asks for a cache and brings it back: how well it fits, and its key.
    async fn find(&self, token: &str, key: &str, paths: &[String]) -> Outcome<(String, String)> {
        let body = json!({ "key": key, "restoreKeys": self.lines("restore-keys"), "version": version(paths) });
        let restored = self.server(token)?.post("/v1/runner/cache/restore", &body).await;
        let restored: Restored = restored.map_err(|error| error.to_string())?;
        if restored.hit != "none" && !self.is_true("lookup-only") {
            self.bring_back(&restored.url, paths).await?;
        }
        Ok((restored.hit, restored.key))
    }

    /// Keeps the files that the step names.
    pub(super) async fn cache_save(&self) -> Outcome {
        let (key, paths) = self.key_and_paths()?;
        Ok(self.keep_or_warn(key, &paths).await)
    }

    /// Keeps the files that the first part looked for, unless they came from the same key.
    pub(super) async fn cache_save_restored(&self) -> Outcome {
        let is_exact = self.state.get(EXACT_STATE).is_some_and(|exact| exact == "true");
        let (Some(key), Some(paths)) = (self.state.get(KEY_STATE), self.state.get(PATHS_STATE)) else {
            return Ok(Done::default());
        };
        let paths: Vec<String> = paths.lines().map(str::to_owned).collect();
        Ok(if is_exact { Done::default() } else { self.keep_or_warn(key, &paths).await })
    }

    /// Keeps files. A job whose cache can't be kept goes on; one on a machine of its own keeps none.
    async fn keep_or_warn(&self, key: &str, paths: &[String]) -> Done {
        if let Files::Server { token } = &self.files
            && let Err(why) = self.keep(token, key, paths).await
        {
            self.output.warning(&format!("The cache wasn't kept: {why}"));
        }
        Done::default()
    }

    fn key_and_paths(&self) -> Outcome<(&str, Vec<String>)> {
        let key = self.input("key").ok_or("The cache needs a key.")?;
        let paths = self.lines("path");
        if paths.is_empty() { Err("The cache needs a path.".to_owned()) } else { Ok((key, paths)) }
    }

    async fn bring_back(&self, url: &str, paths: &[String]) -> Outcome<()> {
        let (zip, reach) = self.transfer()?;
        transfer::get(url, &zip).await?;
        let bases = bases(&self.place.workspace, paths);
        let unpacked = spawn_blocking(move || unpack(&zip, &bases, Names::Numbered, &reach));
        let unpacked = unpacked.await.map_err(|error| error.to_string())?;
        unpacked.map(drop).map_err(|error| error.to_string())
    }

    async fn keep(&self, token: &str, key: &str, paths: &[String]) -> Outcome<()> {
        let (zip, reach) = self.transfer()?;
        let target = zip.try_clone().map_err(|error| error.to_string())?;
        let (workspace, given) = (self.place.workspace.clone(), paths.to_owned());
        let packed = spawn_blocking(move || pack_all(&workspace, &given, &target, &reach)).await;
        let count = packed.map_err(|error| error.to_string())??;
        if count == 0 {
            return Err("there is no file".to_owned());
        }
        let size = zip.metadata().map_err(|error| error.to_string())?.len();
        if size > self.limits.cache_bytes {
            return Err(format!("it has {size} bytes, and {} are allowed", self.limits.cache_bytes));
        }
        let (server, version) = (self.server(token)?, version(paths));
        let body = json!({ "key": key, "version": version, "size": size });
        let saving: Saving = server.post("/v1/runner/cache/save", &body).await.map_err(|error| error.to_string())?;
        if saving.exists {
            self.output.say(&format!("There is a cache of key {key} already, or another job saves it"));
            return Ok(());
        }
        transfer::put(&saving.url, &zip).await?;
        let _: serde_json::Value =
            server.post("/v1/runner/cache/commit", &body).await.map_err(|error| error.to_string())?;
        self.output.say(&format!("Cache saved with key: {key}"));
        Ok(())
    }
}

/// The folder to which each path's names are relative.
fn bases(workspace: &Path, paths: &[String]) -> Vec<PathBuf> {
    paths.iter().map(|path| Patterns::new(workspace, [path.as_str()]).base_of_missing()).collect()
}

fn pack_all(workspace: &Path, paths: &[String], zip: &File, reach: &Reach) -> Outcome<usize> {
    let files = Patterns::new(workspace, paths.iter().map(String::as_str)).files();
    let bases = bases(workspace, paths);
    let entry = |path: PathBuf| {
        let (number, name) = bases
            .iter()
            .enumerate()
            .find_map(|(number, base)| Some((number, path.strip_prefix(base).ok()?.to_str()?.to_owned())))?;
        Some(Entry { name: format!("{number}/{name}"), path })
    };
    let entries: Vec<Entry> = files.map_err(|error| error.to_string())?.into_iter().filter_map(entry).collect();
    pack(zip, &entries, (Names::Numbered, Level::Usual), reach).map_err(|error| error.to_string())
}

/// The same paths, packed the same way, have the same version.
fn version(paths: &[String]) -> String {
    hex(&Sha256::digest(format!("{}\n{FORMAT}", paths.join("\n"))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_come_back_to_the_path_that_they_were_found_by() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (workspace, home) = (root.join("work"), root.join("home"));
        fs::create_dir_all(workspace.join("target/x")).unwrap();
        fs::create_dir_all(&home).unwrap();
        fs::write(workspace.join("target/x/a"), "a").unwrap();
        fs::write(home.join("b.lock"), "b").unwrap();
        let paths = vec!["target".to_owned(), format!("{}/*.lock", home.display())];
        std::os::unix::fs::symlink("a", workspace.join("target/x/link")).unwrap();
        let zip = tempfile::tempfile().unwrap();
        let reach = Reach::new(&workspace, None, false).unwrap();
        assert_eq!(pack_all(&workspace, &paths, &zip, &reach), Ok(3));
        fs::remove_dir_all(workspace.join("target")).unwrap();
        fs::remove_file(home.join("b.lock")).unwrap();
        let bases = bases(&workspace, &paths);
        unpack(&zip, &bases, Names::Numbered, &reach).unwrap();
        assert_eq!(fs::read_link(workspace.join("target/x/link")).unwrap(), Path::new("a"));
        assert_eq!(fs::read_to_string(workspace.join("target/x/a")).unwrap(), "a");
        assert_eq!(fs::read_to_string(home.join("b.lock")).unwrap(), "b");
        assert_ne!(version(&paths), version(&paths[..1]));
        assert_eq!(version(&paths).len(), 64);
    }
}
