//! Who owns which files of a repository, as its `CODEOWNERS` says, and who of them approves a change ("About code owners" in GitHub's
//! documentation).
//!
//! Each line has a pattern of paths and who owns what it covers; of several lines that cover a file, the last one counts, also where it
//! names nobody. A line that isn't understood is passed over.

mod pattern;

use std::{cell::Cell, collections::BTreeSet};

use self::pattern::OwnersPattern;
use super::Principal;
use crate::{
    account::Email,
    id::{TeamId, UserId},
};

/// Where the file is looked for; the first that is there counts.
pub const OWNERS_PATHS: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/// Bytes of the file.
pub const OWNERS_FILE_MAX: u64 = 3 * 1024 * 1024;
/// Owners of one pull request's files that are looked for.
pub const OWNERS_NAMED_MAX: usize = 200;
/// Comparisons of characters, after which it isn't looked any longer who owns what.
const STEPS_MAX: u64 = 100_000_000;

/// What a `CODEOWNERS` file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnersFile {
    rules: Vec<OwnersRule>,
}

/// A line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OwnersRule {
    pattern: OwnersPattern,
    owners: Vec<OwnerName>,
}

/// How an owner is named.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OwnerName {
    /// By the id of a person or a team: `@usr_…`, `@tea_…`.
    Id(Principal),
    /// By a person's address: `ada@example.com`.
    Email(Email),
    /// By a team's name: `@core`, or `@acme/core` with the organization's address or id. Hyphens may stand for blanks.
    Team {
        /// The organization, where it is said.
        organization: Option<String>,
        /// The team.
        name: String,
    },
}

impl OwnersFile {
    /// Reads what a file says.
    pub fn read(text: &str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        Self { rules: text.lines().filter_map(OwnersRule::read).collect() }
    }

    /// Who owns these files: a set for each line that counts for one of them and names anybody. Nothing where it takes too long to look.
    pub fn owners_of<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> Option<Vec<&[OwnerName]>> {
        self.owners_within(paths, STEPS_MAX)
    }

    fn owners_within<'p>(&self, paths: impl IntoIterator<Item = &'p str>, steps_max: u64) -> Option<Vec<&[OwnerName]>> {
        let (steps, mut counting) = (Cell::new(0), BTreeSet::new());
        for path in paths {
            let names: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
            for (at, rule) in self.rules.iter().enumerate().rev() {
                if steps.get() >= steps_max {
                    return None;
                }
                steps.set(steps.get() + 1);
                if rule.pattern.covers(&names, &steps) {
                    counting.insert(at);
                    break;
                }
            }
        }
        let rules = counting.into_iter().filter_map(|at| self.rules.get(at));
        Some(rules.map(|rule| rule.owners.as_slice()).filter(|owners| !owners.is_empty()).collect())
    }
}

impl OwnersRule {
    /// A line; nothing where it says nothing, or isn't understood.
    fn read(line: &str) -> Option<Self> {
        let words = words(line);
        let mut words = words.into_iter().take_while(|word| !word.starts_with('#'));
        let pattern = OwnersPattern::read(words.next()?)?;
        let owners = words.map(OwnerName::read).collect::<Option<Vec<_>>>()?;
        Some(Self { pattern, owners })
    }
}

/// The words of a line; a blank behind a `\` is one of a word.
fn words(line: &str) -> Vec<&str> {
    let (mut words, mut start, mut is_escaped) = (Vec::new(), None, false);
    for (at, it) in line.char_indices() {
        if it.is_whitespace() && !is_escaped {
            words.extend(start.take().map(|from: usize| &line[from..at]));
        } else {
            start.get_or_insert(at);
        }
        is_escaped = it == '\\' && !is_escaped;
    }
    words.extend(start.map(|from| &line[from..]));
    words
}

impl OwnerName {
    /// An owner, as a line names it.
    fn read(word: &str) -> Option<Self> {
        let Some(name) = word.strip_prefix('@') else { return Email::parse("owner", word).ok().map(Self::Email) };
        if let Ok(id) = name.parse() {
            return Some(Self::Id(id));
        }
        if let Ok(email) = Email::parse("owner", name) {
            return Some(Self::Email(email));
        }
        let (organization, name) = match name.split_once('/') {
            Some((organization, name)) => (Some(organization), name),
            None => (None, name),
        };
        let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '@', '\\']);
        let is_team = is_name(name) && organization.is_none_or(is_name);
        is_team.then(|| Self::Team { organization: organization.map(str::to_owned), name: name.to_owned() })
    }
}

/// Who owns what a pull request changes: one of each set has to approve it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerSets(pub Vec<Vec<Principal>>);

impl OwnerSets {
    /// Each owner once.
    pub fn principals(&self) -> Vec<Principal> {
        let mut all = Vec::new();
        for owner in self.0.iter().flatten() {
            if !all.contains(owner) {
                all.push(*owner);
            }
        }
        all
    }

    /// Whether one of each set is among these people, themselves or by one of their teams.
    pub fn approved_by(&self, people: &[(UserId, Vec<TeamId>)]) -> bool {
        let is_among = |owner: &Principal| match owner {
            Principal::Person(id) => people.iter().any(|(person, _)| person == id),
            Principal::Team(id) => people.iter().any(|(_, teams)| teams.contains(id)),
        };
        self.0.iter().all(|set| set.iter().any(is_among))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Timestamp;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn owners(text: &str, paths: &[&str]) -> Vec<Vec<String>> {
        let name = |owner: &OwnerName| match owner {
            OwnerName::Id(id) => id.to_string(),
            OwnerName::Email(email) => email.to_string(),
            OwnerName::Team { organization: Some(organization), name } => format!("{organization}/{name}"),
            OwnerName::Team { organization: None, name } => name.clone(),
        };
        let file = OwnersFile::read(text);
        let sets = file.owners_of(paths.iter().copied()).unwrap();
        sets.into_iter().map(|set| set.iter().map(name).collect()).collect()
    }

    #[test]
    fn the_last_line_that_covers_a_file_counts() {
        let text = "# Who owns what\n\
                    *       @global ada@example.com\n\
                    *.js    @js # the front\n\
                    /apps/  @acme/apps\r\n\
                    /apps/github\n\
                    a\\ b   docs@example.com\n";
        for (path, wanted) in [
            ("main.rs", &["global", "ada@example.com"][..]),
            ("lib/a.js", &["js"]),
            ("apps/a.js", &["acme/apps"]),
            ("x/apps/a", &["global", "ada@example.com"]),
            ("a b", &["docs@example.com"]),
        ] {
            assert_eq!(owners(text, &[path]), [wanted], "{path}");
        }
        assert!(owners(text, &["apps/github/a"]).is_empty());
        let all = ["main.rs", "other.rs", "apps/github/a", "a.js"];
        assert_eq!(owners(text, &all), [&["global", "ada@example.com"][..], &["js"]]);
        assert!(owners("", &all).is_empty());
    }

    #[test]
    fn a_line_that_is_not_understood_is_passed_over() {
        let text = "\u{feff}* @all\n\
                    a.txt somebody\n\
                    !b.txt @b\n\
                    [c].txt @c\n\
                    d.txt @d/e/f\n\
                    e.txt @ @e\n\
                    \t\n\
                    @f\n";
        for path in ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f"] {
            assert_eq!(owners(text, &[path]), [["all"]], "{path}");
        }
    }

    #[test]
    fn an_owner_is_named_by_id_address_or_team() {
        let (person, team) = (UserId::new(NOW), TeamId::new(NOW));
        let text = format!("* @{person} @{team} @Ada@Example.com Bob@example.com @Core @acme/core-team");
        let wanted =
            [person.to_string(), team.to_string(), "ada@example.com".into(), "bob@example.com".into(), "Core".into()];
        assert_eq!(owners(&text, &["a"]), [[&wanted[..], &["acme/core-team".to_owned()]].concat()]);
    }

    #[test]
    fn nobody_looks_for_too_long() {
        let file = OwnersFile::read(&"a*a*a*b @all\n".repeat(10));
        let path = "a".repeat(40);
        assert_eq!(file.owners_within([path.as_str()], 100), None);
        assert_eq!(file.owners_within([path.as_str()], STEPS_MAX), Some(Vec::new()));
        assert_eq!(OwnersFile::default().owners_within([path.as_str()], 0), Some(Vec::new()));
    }

    proptest! {
        #[test]
        fn whatever_a_file_says_is_read(text in "(?s).{0,200}", path in "[a-c*/\\\\é ]{0,40}") {
            let file = OwnersFile::read(&text);
            prop_assert!(file.rules.len() <= text.lines().count());
            prop_assert!(file.owners_of([path.as_str()]).is_some());
        }

        #[test]
        fn a_path_owns_itself(path in "[a-z]{1,5}(/[a-z.]{1,5}){0,4}") {
            let file = OwnersFile::read(&format!("/{path} ada@example.com\n"));
            prop_assert_eq!(file.owners_of([path.as_str()]).map(|sets| sets.len()), Some(1));
            let below = format!("{path}/a");
            prop_assert_eq!(file.owners_of([below.as_str()]).map(|sets| sets.len()), Some(1));
            let beside = format!("{path}A");
            prop_assert_eq!(file.owners_of([beside.as_str()]).map(|sets| sets.len()), Some(0));
        }
    }

    #[test]
    fn one_of_each_set_approves() {
        let (ada, bob, core) = (UserId::new(NOW), UserId::new(NOW), TeamId::new(NOW));
        let sets = OwnerSets(vec![vec![Principal::Person(ada), Principal::Team(core)], vec![Principal::Person(ada)]]);
        assert_eq!(sets.principals(), [Principal::Person(ada), Principal::Team(core)]);
        assert!(sets.approved_by(&[(ada, Vec::new())]));
        assert!(!sets.approved_by(&[(bob, vec![core])]) && !sets.approved_by(&[]));
        let team = OwnerSets(vec![vec![Principal::Team(core)]]);
        assert!(team.approved_by(&[(bob, vec![core])]) && !team.approved_by(&[(bob, Vec::new())]));
        assert!(OwnerSets::default().approved_by(&[]));
    }
}
