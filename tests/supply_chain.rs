//! What the program is made of beside its own sources: compilers that are new enough, crates that are there twice for a
//! reason, licences that let it be given on. `cargo deny` looks closer, where it is at hand.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use serde_json::Value;

/// What the program is built for; what only other systems need is not looked at.
const TARGET: &str = "x86_64-unknown-linux-gnu";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file")
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--locked")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn deny() -> toml::Table {
    read("deny.toml").parse().expect("TOML")
}

/// Name, version and licence of every crate that the program or its tests are built from.
fn crates() -> BTreeSet<(String, String, String)> {
    let edges = ["--edges", "normal,build,dev"];
    let form = ["--prefix", "none", "--format", "{p}|{l}"];
    let tree = cargo(&[&["tree", "--workspace", "--target", TARGET], &edges[..], &form[..]].concat());
    let one = |line: &str| {
        let (package, licence) = line.split_once('|')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.trim_start_matches('v'));
        Some((name.to_owned(), version.to_owned(), licence.trim_end_matches(" (*)").to_owned()))
    };
    let found: BTreeSet<_> = tree.lines().filter_map(one).collect();
    assert!(found.len() > 200, "cargo tree tells of {} crates only", found.len());
    found
}

fn version(text: &str) -> Vec<u64> {
    text.split('.').map(|part| part.parse().expect("a number")).collect()
}

#[test]
fn no_dependency_needs_a_newer_compiler_than_the_manifest_says() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let ours = manifest["workspace"]["package"]["rust-version"].as_str().expect("a version");
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--filter-platform", TARGET]))
            .expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let newer: Vec<_> = packages
        .iter()
        .filter_map(|package| Some((&package["name"], package["rust_version"].as_str()?)))
        .filter(|(_, needed)| version(needed)[..2] > version(ours)[..2])
        .collect();
    assert!(newer.is_empty(), "rust-version is {ours}, but {newer:?}");
    let readme = format!("{ours} or later");
    assert!(read("README.md").contains(&readme), "the README tells of another toolchain than {ours}");
    let image = read("config/container/Containerfile");
    let compiler = |line: &str| line.strip_prefix("FROM docker.io/library/rust:")?.split('-').next().map(str::to_owned);
    let image = image.lines().find_map(compiler).expect("a compiler");
    assert!(version(&image) >= version(ours), "the container's compiler is {image}");
}

#[test]
fn a_crate_that_is_there_twice_stands_in_deny_toml() {
    let deny = deny();
    let skipped: BTreeSet<_> = deny["bans"]["skip"].as_array().expect("a list").iter().map(exception).collect();
    let mut versions = BTreeMap::<_, BTreeSet<_>>::new();
    for (name, version, _) in crates() {
        versions.entry(name).or_default().insert(version);
    }
    let (mut unexplained, mut of_use) = (Vec::new(), BTreeSet::new());
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let by = |version: &String| {
            let fits = |(known, start): &&(String, String)| known == name && version.starts_with(start.as_str());
            skipped.iter().find(fits)
        };
        of_use.extend(versions.iter().filter_map(by));
        if versions.iter().filter(|version| by(version).is_none()).count() > 1 {
            unexplained.push(format!("{name} {versions:?}"));
        }
    }
    assert!(unexplained.is_empty(), "deny.toml does not say why there is {unexplained:#?}");
    let idle: Vec<_> = skipped.iter().filter(|it| !of_use.contains(it)).collect();
    assert!(idle.is_empty(), "deny.toml explains what is no more: {idle:#?}");
}

/// Name, and what the version starts with.
fn exception(entry: &toml::Value) -> (String, String) {
    let text = |key: &str| entry[key].as_str().expect("text").to_owned();
    (text("name"), text("version") + ".")
}

#[test]
fn every_licence_is_one_that_deny_toml_allows() {
    let deny = deny();
    let allowed: BTreeSet<_> =
        deny["licenses"]["allow"].as_array().expect("a list").iter().map(|it| it.as_str().expect("text")).collect();
    // Alternatives in parentheses at most, as a conjunction of them: stricter than SPDX where an expression is neither.
    let is_allowed = |licence: &str| {
        let any = |choice: &str| {
            let choices = choice.trim_matches(['(', ')', ' ']).replace('/', " OR ");
            choices.split(" OR ").any(|licence| allowed.contains(licence.trim()))
        };
        licence.split(" AND ").all(any)
    };
    let text = |it: &toml::Value| it.as_str().expect("text").to_owned();
    let excepted: BTreeSet<_> = deny["licenses"]["exceptions"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|it| {
            it["allow"].as_array().expect("a list").iter().map(move |licence| (text(&it["name"]), text(licence)))
        })
        .collect();
    let found = crates();
    let is_excepted = |name: &String, licence: &String| excepted.contains(&(name.clone(), licence.clone()));
    let refused: Vec<_> =
        found.iter().filter(|(name, _, licence)| !is_allowed(licence) && !is_excepted(name, licence)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let is_there = |(name, licence): &&(String, String)| found.iter().any(|it| it.0 == *name && it.2 == *licence);
    let idle: Vec<_> = excepted.iter().filter(|it| !is_there(it)).collect();
    assert!(idle.is_empty(), "deny.toml excepts what is no more: {idle:#?}");
}
