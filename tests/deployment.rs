//! What `config/` and `docs/` tell operators to write is what the program takes.

use std::{fs, path::Path, time::Duration};

use clap::{Parser, error::ErrorKind};
use troupe::{
    cli::{Command, CommandLine},
    config::{Config, Sources},
};

/// Where the program writes, in the unit and in the container.
const STATE: &str = "/var/lib/troupe";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).expect("a file")
}

/// The values of a directive of the unit, comments aside.
fn directive<'a>(unit: &'a str, name: &str) -> Vec<&'a str> {
    unit.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('=')).collect()
}

fn only<'a>(unit: &'a str, name: &str) -> &'a str {
    let values = directive(unit, name);
    assert_eq!(values.len(), 1, "{name}");
    values[0]
}

fn command_line(line: &str) -> CommandLine {
    CommandLine::try_parse_from(line.split_whitespace()).unwrap_or_else(|error| panic!("`{line}`: {error}"))
}

/// What stands between backticks, on one line.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

#[test]
fn the_unit_starts_the_server_with_flags_that_it_has_on_a_folder_that_it_may_write() {
    let unit = read("config/systemd/troupe.service");
    let line = command_line(only(&unit, "ExecStart"));
    assert!(matches!(line.command, Some(Command::Serve)));
    assert_eq!(line.global.data.as_deref(), Some(Path::new(STATE)));
    assert_eq!(only(&unit, "StateDirectory"), "troupe");
    assert_eq!(only(&unit, "ProtectSystem"), "strict");
    assert_eq!(only(&unit, "DynamicUser"), "yes");
    assert!(line.global.config.is_some_and(|file| file.starts_with("/etc/troupe")));
}

#[test]
fn the_unit_lets_the_program_come_to_its_own_end() {
    let unit = read("config/systemd/troupe.service");
    let patience = humantime_seconds(only(&unit, "TimeoutStopSec"));
    let config = Config::load(&Sources::default()).expect("the defaults");
    // Requests, actors, and the last traces.
    let needed = 2 * config.shutdown.grace + config.tracing.timeout;
    assert!(patience > needed, "{patience:?} for {needed:?}");
    assert_eq!(only(&unit, "KillSignal"), "SIGTERM");
}

fn humantime_seconds(text: &str) -> Duration {
    Duration::from_secs(text.strip_suffix('s').and_then(|count| count.parse().ok()).expect("seconds"))
}

#[test]
fn the_container_sets_what_there_is_and_copies_what_there_is() {
    let file = read("config/container/Containerfile");
    let set = file.lines().find_map(|line| line.strip_prefix("ENV ")).expect("settings");
    let environment: Vec<_> = set
        .split(' ')
        .map(|pair| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).expect("a setting"))
        .collect();
    let config = Config::load(&Sources { environment, ..Sources::default() }).expect("a configuration");
    assert_eq!(config.data.dir, Path::new(STATE));
    assert!(config.server.listen.ip().is_unspecified(), "nobody outside could connect");
    assert!(file.contains(&format!("VOLUME {STATE}\n")));
    let port = |address: std::net::SocketAddr| address.port().to_string();
    assert!(file.contains(&format!("EXPOSE {}\n", port(config.server.listen))));
    let operators = port(config.operators_listen().expect("an operators' address"));
    assert!(file.contains(&format!("/dev/tcp/127.0.0.1/{operators} ")));

    let copied: Vec<_> = file.lines().filter_map(|line| line.strip_prefix("COPY ")).collect();
    let sources = copied.iter().filter(|line| !line.starts_with("--")).flat_map(|line| {
        let names: Vec<_> = line.split(' ').collect();
        names[..names.len() - 1].to_vec()
    });
    let sources: Vec<_> = sources.collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    assert!(sources.iter().all(|name| root.join(name).exists()), "{sources:?}");
    let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
    for member in manifest["workspace"]["members"].as_array().expect("members") {
        let member = Path::new(member.as_str().expect("a name"));
        let is_copied = |source: &&str| member.starts_with(source);
        assert!(sources.iter().any(is_copied), "{} is not copied", member.display());
    }
}

#[test]
fn the_container_is_built_from_images_of_a_named_registry() {
    // podman knows few short names, and asks or gives up at the others.
    let file = read("config/container/Containerfile");
    let images: Vec<_> = file.lines().filter_map(|line| line.strip_prefix("FROM ")).collect();
    assert!(images.len() > 1 && images.iter().all(|image| image.starts_with("docker.io/")), "{images:?}");
}

#[test]
fn the_containers_health_check_ends_before_it_is_overdue() {
    let file = read("config/container/Containerfile");
    let seconds = |before: &str| -> Option<u64> {
        let (_, rest) = file.split_once(before)?;
        rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let (allowed, taken) = (seconds("--timeout=").expect("a limit"), seconds("[\"timeout\", \"").expect("an end"));
    assert!(taken < allowed, "{taken} s of {allowed} s");
}

#[test]
fn the_container_writes_nothing_but_its_volume() {
    assert!(read("config/container/Containerfile").contains(&format!("ENV SQLITE_TMPDIR={STATE}\n")));
}

#[test]
fn commands_beside_the_unit_have_its_user_its_settings_and_its_folder() {
    let (unit, text) = (read("config/systemd/troupe.service"), read("docs/operations.md"));
    let (_, rest) = text.split_once("    as_troupe() {\n").expect("a function");
    let (body, _) = rest.split_once("\n    }").expect("its end");
    let body = body.replace('\\', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    let program = only(&unit, "ExecStart").replace(" serve ", " ");
    assert!(body.ends_with(&format!("{program} \"$@\"")), "{body}");
    for name in ["DynamicUser", "UMask", "StateDirectoryMode"] {
        let property = format!("-p {name}={} ", only(&unit, name));
        assert!(body.contains(&property), "{property}");
    }
    let (folder, environment) = (only(&unit, "StateDirectory"), only(&unit, "EnvironmentFile").trim_start_matches('-'));
    assert!(body.contains(&format!("\"StateDirectory={folder} ")));
    assert!(body.contains(&format!("-p EnvironmentFile={environment} ")));
    // The name of a dynamic user is the unit's.
    assert!(body.contains("-p User=troupe "));
    let commands: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("    as_troupe ")).collect();
    assert!(!commands.is_empty());
    for command in commands {
        command_line(&format!("troupe {command}"));
    }
}

#[test]
fn the_example_for_production_is_a_configuration() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/production.example.toml");
    // What the example leaves to the environment.
    let environment = vec![("TROUPE_TEXTS__AUTH_TOKEN".into(), "secret".into())];
    Config::load(&Sources { file: Some(file), environment, ..Sources::default() }).expect("a configuration");
}

/// Whether all that is wrong is that more should follow: a text may speak of a command without what it takes.
fn is_incomplete(error: &clap::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

#[test]
fn every_command_that_the_documents_name_is_one() {
    let mut commands = 0;
    let decided = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/decisions")).expect("a folder");
    let decided = decided.map(|entry| format!("docs/decisions/{}", entry.expect("a page").file_name().display()));
    let others = ["README.md", "docs/operations.md", "docs/security.md", "docs/decisions.md"];
    for document in others.into_iter().map(str::to_owned).chain(decided) {
        for span in code_spans(&read(&document)).filter(|span| span.starts_with("troupe ")) {
            if let Err(error) = CommandLine::try_parse_from(span.split_whitespace()) {
                assert!(is_incomplete(&error), "{document}: `{span}`: {error}");
            }
            commands += 1;
        }
    }
    assert!(commands > 10, "the documents name {commands} commands only");
}

#[test]
fn every_setting_that_the_documents_name_is_one() {
    let defaults: toml::Table = read("config/default.toml").parse().expect("TOML");
    let is_setting =
        |section: &str, key: &str| defaults.get(section).and_then(|keys| keys.get(key)).is_some() || key == "*";
    let (mut named, mut offences) = (0, Vec::new());
    let places = [
        "README.md",
        "docs/ARCHITECTURE.md",
        "docs/operations.md",
        "docs/security.md",
        "config/production.example.toml",
        "config/systemd/troupe.service",
        "config/container/Containerfile",
    ];
    for place in places {
        let text = read(place);
        let of_sections = code_spans(&text).filter_map(|span| span.split_whitespace().next()?.split_once('.'));
        let of_sections = of_sections.filter(|(section, key)| {
            defaults.contains_key(*section) && key.chars().all(|c| c.is_ascii_lowercase() || c == '_' || c == '*')
        });
        let of_environment = text
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter_map(|word| word.strip_prefix("TROUPE_")?.split_once("__"))
            .map(|(section, key)| (section.to_lowercase(), key.to_lowercase()))
            .filter(|(_, key)| !key.is_empty());
        let all = of_sections.map(|(section, key)| (section.to_owned(), key.to_owned())).chain(of_environment);
        for (section, key) in all {
            named += 1;
            if !is_setting(&section, &key) {
                offences.push(format!("{place}: {section}.{key}"));
            }
        }
    }
    assert!(named > 30, "the documents name {named} settings only");
    assert!(offences.is_empty(), "{offences:#?}");
}
