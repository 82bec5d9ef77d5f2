//! What a reviewer would otherwise have to watch for: who may name which framework, lengths, dead files, and documents
//! that name what is not there.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Lines of a source file, at most.
const FILE_LINES_MAX: usize = 500;
/// Lines of a function, at most.
const FUNCTION_LINES_MAX: usize = 70;
/// Functions that are tables, one line a row: read by looking up, not from top to bottom.
const TABLES: &[&str] = &["domain/src/role.rs", "/src/routes.rs", "migrations/src/lib.rs"];
/// Folders with Rust sources.
const SOURCES: &[&str] = &["src", "domain", "store", "gateways", "actors", "http", "migrations", "bench", "tests"];

struct Source {
    path: String,
    text: String,
}

impl Source {
    fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.contains("/tests/") || self.path.ends_with("/tests.rs")
    }

    fn is_below(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    /// Whether a program, a library or a test binary begins here.
    fn is_root(&self) -> bool {
        let (folder, file) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        matches!(file, "lib.rs" | "main.rs") || folder.ends_with("/tests")
    }

    /// The text before the file's own unit tests.
    fn production(&self) -> &str {
        self.text.split("#[cfg(test)]").next().unwrap_or_default()
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.ends_with("node_modules") {
            // What npm installs beside an example is others' work.
        } else if entry.is_dir() {
            collect(&entry, extension, found);
        } else if entry.extension().is_some_and(|it| it == extension) {
            found.push(entry);
        }
    }
}

fn sources() -> Vec<Source> {
    let mut paths = Vec::new();
    for folder in SOURCES {
        collect(&root().join(folder), "rs", &mut paths);
    }
    assert!(paths.len() > 50, "the sources are elsewhere now");
    let name = |path: &Path| path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
    paths.iter().map(|path| Source { path: name(path), text: fs::read_to_string(path).expect("a source") }).collect()
}

fn report(rule: &str, offences: &[String]) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}

/// Whether `text` names the crate `name` as a path (`name::`) or in a `use`.
fn names_crate(text: &str, name: &str) -> bool {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
        line.match_indices(name).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = &line[at + name.len()..];
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
                && (after.starts_with("::") || after.starts_with(';'))
        })
    })
}

#[test]
fn each_framework_is_named_only_where_it_is_adapted() {
    let homes: &[(&str, &[&str])] = &[
        ("actix", &["actors/kernel", "bench"]),
        ("actix_web", &["http/", "bench"]),
        ("actix_ws", &["http/", "bench"]),
        ("sea_orm", &["store/", "migrations/", "bench"]),
        ("sea_orm_migration", &["store/", "migrations/"]),
        ("object_store", &["store/"]),
        ("redis", &["gateways/"]),
        ("lettre", &["gateways/"]),
    ];
    let mut offences = Vec::new();
    for source in sources() {
        for (name, folders) in homes {
            if !source.is_below(folders) && source.path != "tests/tidy.rs" && names_crate(&source.text, name) {
                offences.push(format!("{} names {name}", source.path));
            }
        }
    }
    report("A framework is named only where it is adapted to our own words", &offences);
}

/// What belongs to the server.
const OF_THE_SERVER: [&str; 9] =
    ["store", "actors", "http", "http_listener", "http_post", "http_s3", "http_shell", "migrations", "gateways"];

#[test]
fn the_runner_knows_the_server_from_outside() {
    let mut offences = Vec::new();
    for source in sources().into_iter().filter(|source| source.is_below(&["src/runner"])) {
        let named = OF_THE_SERVER.iter().filter(|name| names_crate(&source.text, name));
        offences.extend(named.map(|name| format!("{} names {name}", source.path)));
    }
    report("The runner asks the server over HTTP, as anybody does (`src/runner/mod.rs`)", &offences);
}

#[test]
fn no_area_names_another_one() {
    let mut offences = names_other_areas("actors", &["actors-base"]);
    offences.extend(names_other_areas("http", &["http-shell", "http-listener"]));
    report(
        "What an area's actors need of another area is handed to them (`actors/src/registries.rs`); what endpoints share is in \
         `http/shell`, what listeners share in `http/listener`",
        &offences,
    );
}

/// What the packages below `layer` name of each other, beside those that areas stand on.
fn names_other_areas(layer: &str, bases: &[&str]) -> Vec<String> {
    let mut manifests = Vec::new();
    collect(&root().join(layer), "toml", &mut manifests);
    // The layer's own package lists its areas.
    manifests.retain(|manifest| *manifest != root().join(layer).join("Cargo.toml"));
    let folder = |manifest: &PathBuf| Some(manifest.parent()?.file_name()?.to_string_lossy().into_owned());
    let areas: Vec<_> = manifests.iter().filter_map(folder).map(|area| format!("{layer}-{area}")).collect();
    assert!(areas.len() > 5, "the areas are elsewhere now");
    let mut offences = Vec::new();
    for manifest in &manifests {
        let text = fs::read_to_string(manifest).expect("a manifest");
        let names = text.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        let others = names.filter(|name| !bases.contains(name) && areas.iter().any(|area| area == name));
        offences.extend(others.map(|name| format!("{} names {name}", manifest.display())));
    }
    offences
}

/// What decides a right: taking scopes apart, comparing roles, making the refusal.
const DECISIONS: &[&str] = &[".intersection(", ".contains(Scope::", ".may_assign(", ".scopes(", "MissingScope("];
/// Where rights are decided, and where what they are is written down.
const DECIDES: &[&str] = &["domain/src/authority", "domain/src/role.rs", "domain/src/scope.rs", "domain/src/error.rs"];
/// Where the refusal is shown to clients, and described to them.
const SHOWS: &[&str] = &["http/shell/src/error.rs", "http/shell/src/facts.rs"];

#[test]
fn a_right_is_decided_in_one_place() {
    let mut offences = Vec::new();
    for source in sources().iter().filter(|source| source.is_below(&["domain/", "store/", "actors/", "http/"])) {
        if source.is_test() || source.is_below(DECIDES) {
            continue;
        }
        offences.extend(decisions(source.production(), &source.path));
    }
    report("What a caller may do is asked of an `Authority` (`domain/src/authority.rs`)", &offences);
}

fn decisions(text: &str, path: &str) -> Vec<String> {
    let found = text.lines().enumerate().flat_map(|(at, line)| {
        // Whoever only looks which error it is decides nothing.
        let line = line.replace("MissingScope(_)", "");
        let shown = SHOWS.contains(&path) && line.contains("MissingScope(");
        let found = DECISIONS.iter().filter(|it| !shown && !line.trim_start().starts_with("//") && line.contains(**it));
        found.map(|it| format!("{path}:{} ({it})", at + 1)).collect::<Vec<_>>()
    });
    found.collect()
}

#[test]
fn a_second_decision_of_a_right_is_noticed() {
    for line in [
        "let scopes = granted.map_or(by_role, |granted: ScopeSet| granted.intersection(by_role));",
        "if membership.scopes().contains(Scope::MapsRead) { Ok(()) } else { Err(no()) }",
        "if self.scopes.contains(scope) { Ok(()) } else { Err(Error::MissingScope(scope)) }",
        "if !self.role.may_assign(role) {",
    ] {
        assert!(!decisions(line, "http/shell/src/org.rs").is_empty(), "{line}");
    }
    for line in ["Err(Error::MissingScope(_)) => Ok(false),", "/// 403 with `MissingScope(scope)`", "key.scopes.iter()"]
    {
        assert!(decisions(line, "http/shell/src/org.rs").is_empty(), "{line}");
    }
}

/// What a handler says that looks for what the path names, or whose that is, by hand.
const BY_HAND: &[&str] = &["not_found", "NOT_FOUND", "no_notice", "found(&", "org_id =="];
/// Handlers of what no path names by an owner: a blob at a signed address, a text that a provider passes on, a version of
/// a page that was loaded. The list may only shrink.
const NOT_OWNED: &[&str] = &["blob_get", "notify_sms_hook", "page_version_get"];

#[test]
fn what_a_path_names_is_an_argument_of_its_handler() {
    let mut offences = Vec::new();
    for source in sources().iter().filter(|source| source.is_below(&["http/"]) && !source.is_test()) {
        let by_hand = handlers(source.production())
            .filter(|(name, body)| !NOT_OWNED.contains(name) && BY_HAND.iter().any(|words| body.contains(words)));
        offences.extend(by_hand.map(|(name, _)| format!("{}: {name}", source.path)));
    }
    report("A handler takes what its path names as an `Owned<T>` (`http/shell/src/owned.rs`)", &offences);
}

/// The names and the texts of a file's handlers.
fn handlers(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("#[utoipa::path(").skip(1).filter_map(|rest| {
        let (_, handler) = rest.split_once("async fn ")?;
        let (handler, _) = handler.split_once("\n}\n").unwrap_or((handler, ""));
        let (name, _) = handler.split_once('(')?;
        Some((name, handler))
    })
}

#[test]
fn a_handler_that_looks_by_hand_is_noticed() {
    let handler = |body: &str| {
        let text =
            format!("#[utoipa::path(get, path = \"/v1\")]\npub(crate) async fn get(id: Id) {{\n    {body}\n}}\n");
        handlers(&text).any(|(name, body)| name == "get" && BY_HAND.iter().any(|words| body.contains(words)))
    };
    for body in [
        "let page = state.store.page(org.id(), *id).await?.ok_or_else(not_found)?;",
        "let team = team.ok_or_else(|| Error::not_found(\"Team not found.\"))?;",
        "found(&state, org.id(), *id).await?;",
        "let notice = state.store.notice(person.user_id(), id).await?.ok_or_else(no_notice)?;",
        "if row.org_id == org.id() {",
    ] {
        assert!(handler(body), "{body}");
    }
    assert!(!handler("let members = state.store.team_members(team.id).await?;"));
}

#[test]
fn a_file_is_short_enough_to_be_read() {
    let long = |source: &Source| source.text.lines().count() > FILE_LINES_MAX;
    let offences: Vec<_> = sources().iter().filter(|source| long(source)).map(|source| source.path.clone()).collect();
    report("A file has at most 500 lines", &offences);
}

#[test]
fn a_function_is_short_enough_to_be_read() {
    let mut offences = Vec::new();
    for source in
        sources().iter().filter(|source| !source.is_test() && !TABLES.iter().any(|table| source.path.ends_with(table)))
    {
        offences.extend(long_functions(source));
    }
    report("A function has at most 70 lines", &offences);
}

/// Functions from their `fn` to the closing brace at the same indentation, as rustfmt sets it.
fn long_functions(source: &Source) -> Vec<String> {
    let lines: Vec<_> = source.text.lines().collect();
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let starts = lines.iter().enumerate().filter(|(_, line)| {
        let words = line.trim_start();
        !words.starts_with("//") && (words.starts_with("fn ") || words.contains(" fn ") && words.contains('('))
    });
    starts
        .filter_map(|(start, line)| {
            let close = format!("{}}}", " ".repeat(indentation(line)));
            let length = lines[start..].iter().position(|line| *line == close)?;
            (length >= FUNCTION_LINES_MAX).then(|| format!("{}:{} ({} lines)", source.path, start + 1, length + 1))
        })
        .collect()
}

#[test]
fn production_code_does_not_unwrap() {
    let mut offences = Vec::new();
    for source in sources().iter().filter(|source| !source.is_test() && !source.path.starts_with("bench/")) {
        for (at, line) in source.production().lines().enumerate() {
            if line.contains(".unwrap()") && !line.trim_start().starts_with("//") {
                offences.push(format!("{}:{}", source.path, at + 1));
            }
        }
    }
    report("Outside tests nothing unwraps", &offences);
}

#[test]
fn examples_in_documentation_are_no_code() {
    let mut offences = Vec::new();
    for source in sources() {
        // Every second fence ends an example.
        let lines =
            source.text.lines().enumerate().map(|(at, line)| (at, line.trim_start().trim_start_matches(['/', '!'])));
        let fences = lines.filter(|(_, line)| line.len() < 80 && line.starts_with(" ```")).step_by(2);
        let codes = fences.filter(|(_, line)| !matches!(line.trim(), "```text" | "```ignore" | "```json"));
        offences.extend(codes.map(|(at, _)| format!("{}:{}", source.path, at + 1)));
    }
    report("Nobody compiles the examples of documentation (`doctest = false`): they are text", &offences);
}

#[test]
fn nothing_is_left_for_later() {
    let words = [
        ["to", "do!("].concat(),
        ["unimpl", "emented!("].concat(),
        ["FIX", "ME"].concat(),
        ["#[ign", "ore"].concat(),
        ["XX", "X"].concat(),
    ];
    let mut offences = Vec::new();
    for source in sources() {
        offences.extend(
            words
                .iter()
                .filter(|word| source.text.contains(word.as_str()))
                .map(|word| format!("{}: {word}", source.path)),
        );
    }
    report("Nothing is left for later in the sources", &offences);
}

#[test]
fn modules_have_names_that_say_something() {
    let empty = ["utils", "util", "helpers", "helper", "common", "manager", "data", "info", "misc"];
    let mut offences = Vec::new();
    for source in sources() {
        let parts: Vec<_> = source.path.trim_end_matches(".rs").split('/').collect();
        if parts.iter().any(|part| empty.contains(part)) {
            offences.push(source.path.clone());
        }
    }
    report("A module's name says what is in it", &offences);
}

#[test]
fn every_source_file_is_part_of_a_program() {
    let all = sources();
    let declared: BTreeSet<String> = all.iter().flat_map(declared_files).collect();
    let dead: Vec<_> = all
        .iter()
        .filter(|source| !source.is_root() && !declared.contains(&source.path))
        .map(|it| it.path.clone())
        .collect();
    report("A file that no `mod` names is dead", &dead);
}

/// Where the modules that a file declares may stand.
fn declared_files(source: &Source) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let stem = file.trim_end_matches(".rs");
    let home = if stem == "mod" || source.is_root() { folder.to_owned() } else { format!("{folder}/{stem}") };
    let names = source.text.lines().filter_map(|line| {
        let line = line.trim().trim_end_matches(';');
        let rest = ["pub(crate) mod ", "pub(super) mod ", "pub mod ", "mod "]
            .iter()
            .find_map(|start| line.strip_prefix(start))?;
        rest.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| rest.to_owned())
    });
    names.flat_map(|name| [format!("{home}/{name}.rs"), format!("{home}/{name}/mod.rs")]).collect()
}

#[test]
fn every_fuzzing_target_has_seeds_and_is_played_by_a_test() {
    let fuzz = root().join("fuzz");
    let names = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(fuzz.join(folder)).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect()
    };
    let manifest = fs::read_to_string(fuzz.join("Cargo.toml")).expect("a manifest");
    let all = sources();
    let is_played = |target: &str| all.iter().any(|source| source.text.contains(&format!("play(\"{target}\", ")));
    let targets = names("fuzz_targets");
    assert_eq!(targets, names("seeds"), "targets, and folders of seeds");
    let offences: Vec<_> = targets
        .into_iter()
        .filter(|target| !is_played(target) || !manifest.contains(&format!("name = \"{target}\"")))
        .collect();
    report("A fuzzing target stands in the manifest, and a test plays it", &offences);
}

#[test]
fn what_the_documents_name_exists() {
    let mut documents = vec![root().join("README.md")];
    collect(&root().join("docs"), "md", &mut documents);
    let mut offences = Vec::new();
    for document in documents {
        let text = fs::read_to_string(&document).expect("a document");
        for span in text.split('`').skip(1).step_by(2).filter(|span| looks_like_a_path(span)) {
            if !root().join(span.trim_end_matches('/')).exists() {
                offences.push(format!("{}: {span}", document.display()));
            }
        }
    }
    report("What a document names exists", &offences);
}

fn looks_like_a_path(span: &str) -> bool {
    let top = span.split('/').next().unwrap_or_default();
    let known = SOURCES.contains(&top) || matches!(top, "config" | "docs" | ".ci");
    known && span.contains('/') && !span.contains(['*', ' ', '<', '{', '…', '\n'])
}

#[test]
fn no_path_of_a_machine_is_in_the_project() {
    let mut paths = Vec::new();
    for folder in SOURCES.iter().chain(&["docs", "config", ".ci"]) {
        for extension in ["rs", "md", "toml", "py", "sh"] {
            collect(&root().join(folder), extension, &mut paths);
        }
    }
    let homes = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat(), ["/ho", "me/"].concat()];
    let names_a_machine = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a file");
        // A folder of the project may have the same name.
        let is_root = |at: usize| !text[..at].ends_with(char::is_alphanumeric);
        homes.iter().any(|home| text.match_indices(home.as_str()).any(|(at, _)| is_root(at)))
    };
    let offences: Vec<_> =
        paths.iter().filter(|path| names_a_machine(path)).map(|path| path.display().to_string()).collect();
    report("No path of a machine is in the project", &offences);
}
