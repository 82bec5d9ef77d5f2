//! Going through the files that are new in a change.

use std::{
    collections::HashSet,
    ops::ControlFlow::{self, Break, Continue},
};

use super::{Fingerprint, SecretFinding, SecretScanner, finding::path_shown};
use crate::{git::ObjectId, id::ResourceId, token::TokenHash};

/// Bytes of a file that is scanned: 5 MB.
pub const SCANNED_MAX: u64 = 5 << 20;
/// Bytes at a file's beginning among which a NUL says that it isn't text.
const NUL_SOUGHT: usize = 8_000;
/// Secrets that nobody allowed which are kept of one change. With more the search ends, as the change is refused anyway.
pub const FINDINGS_MAX: usize = 1_000;

/// A file that a change brings.
#[derive(Clone, Copy, Debug)]
pub struct NewFile<'f> {
    /// Its bytes' name.
    pub blob: ObjectId,
    /// Its path; empty where the change names its bytes without one.
    pub path: &'f [u8],
    /// Its bytes.
    pub content: &'f [u8],
}

/// A token of this program's that was found, of which nothing else is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundToken {
    /// What it is known by in its repository.
    pub fingerprint: Fingerprint,
    /// What the store has of it, where it was ever issued.
    pub hash: TokenHash,
}

/// What the files of a change came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecretsFound {
    /// Secrets that nobody allowed, each where it was found first.
    pub open: Vec<SecretFinding>,
    /// Whether there may be more of them.
    pub is_cut: bool,
    /// Those that somebody did allow.
    pub allowed: Vec<SecretFinding>,
    /// The tokens of this program's among them, of which only so many are kept as of what nobody allowed.
    pub tokens: Vec<FoundToken>,
    /// Files that weren't scanned: too large, or no texts.
    pub unscanned: u64,
}

/// The search for secrets in the files of one change.
#[derive(Debug)]
pub struct SecretSearch {
    scanner: SecretScanner,
    repository: ResourceId,
    allowed: HashSet<Fingerprint>,
    seen: HashSet<Fingerprint>,
    found: SecretsFound,
}

impl SecretSearch {
    /// A search in a change of `repository`, where these secrets are allowed.
    pub fn new(scanner: SecretScanner, repository: ResourceId, allowed: HashSet<Fingerprint>) -> Self {
        Self { scanner, repository, allowed, seen: HashSet::new(), found: SecretsFound::default() }
    }

    /// Looks through a file; breaks once it is of no use to look at another one.
    pub fn look(&mut self, file: NewFile<'_>) -> ControlFlow<()> {
        let beginning = &file.content[..file.content.len().min(NUL_SOUGHT)];
        if file.content.len() as u64 > SCANNED_MAX || memchr::memchr(0, beginning).is_some() {
            self.pass_over();
            return Continue(());
        }
        let Self { scanner, repository, allowed, seen, found } = self;
        scanner.scan(*repository, file.content, |secret, token| {
            let is_allowed = allowed.contains(&secret.fingerprint);
            let list = if is_allowed { &mut found.allowed } else { &mut found.open };
            if seen.contains(&secret.fingerprint) {
                return Continue(());
            }
            if !is_allowed && list.len() >= FINDINGS_MAX {
                found.is_cut = true;
                return Break(());
            }
            seen.insert(secret.fingerprint);
            if let Some(token) = token.filter(|_| found.tokens.len() < FINDINGS_MAX) {
                found.tokens.push(FoundToken { fingerprint: secret.fingerprint, hash: token.hash() });
            }
            list.push(SecretFinding { secret, path: path_shown(file.path), blob: file.blob, commit: None });
            Continue(())
        })
    }

    /// Notes a file that is too large to be looked through.
    pub const fn pass_over(&mut self) {
        self.found.unscanned += 1;
    }

    /// What was found.
    pub fn finish(self) -> SecretsFound {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::{Token, TokenKind};

    fn key(number: usize) -> String {
        format!("AKIA{number:06}BCDEFGHIJK\n")
    }

    fn search(allowed: HashSet<Fingerprint>) -> SecretSearch {
        let repository = "res_01h455vb4pex5vsknk084sn02q".parse().unwrap();
        SecretSearch::new(SecretScanner::new(b"the server's").unwrap(), repository, allowed)
    }

    fn file(content: &[u8]) -> NewFile<'_> {
        NewFile { blob: ObjectId::of_bytes([1; 20]), path: b"a/b", content }
    }

    #[test]
    fn a_secret_is_found_once_and_apart_from_what_is_allowed() {
        let mut first = search(HashSet::new());
        let text = [key(1), key(2), key(1)].concat();
        assert!(first.look(file(text.as_bytes())).is_continue());
        assert!(first.look(file(text.as_bytes())).is_continue());
        let found = first.finish();
        assert_eq!(found.open.iter().map(SecretFinding::place).collect::<Vec<_>>(), ["a/b:1", "a/b:2"]);
        let mut second = search(HashSet::from([found.open[0].secret.fingerprint]));
        assert!(second.look(file(text.as_bytes())).is_continue());
        let again = second.finish();
        assert_eq!((&again.allowed[..], &again.open[..]), (&found.open[..1], &found.open[1..]));
    }

    #[test]
    fn of_a_token_of_this_programs_the_hash_is_kept() {
        let token = Token::generate(TokenKind::Key).unwrap();
        let mut search = search(HashSet::new());
        let text = format!("{}{}\n{}\n", key(1), token.reveal(), token.reveal());
        assert!(search.look(file(text.as_bytes())).is_continue());
        let found = search.finish();
        let fingerprint = found.open[1].secret.fingerprint;
        assert_eq!(found.open.len(), 2);
        assert_eq!(found.tokens, [FoundToken { fingerprint, hash: token.hash() }]);
    }

    #[test]
    fn what_is_large_or_no_text_is_not_scanned() {
        let with = |len: usize, nul: Option<usize>| {
            let mut text = key(1).into_bytes();
            text.resize(len, b' ');
            if let Some(at) = nul {
                text[at] = 0;
            }
            let mut search = search(HashSet::new());
            assert!(search.look(file(&text)).is_continue());
            let found = search.finish();
            (found.open.len(), found.unscanned)
        };
        let most = usize::try_from(SCANNED_MAX).unwrap();
        assert_eq!(with(most, None), (1, 0));
        assert_eq!(with(most + 1, None), (0, 1));
        assert_eq!(with(10_000, Some(NUL_SOUGHT - 1)), (0, 1));
        assert_eq!(with(10_000, Some(NUL_SOUGHT)), (1, 0));
    }

    #[test]
    fn a_change_full_of_secrets_ends_the_search_and_one_full_of_allowed_ones_does_not() {
        let text: String = (0..=FINDINGS_MAX).map(key).collect();
        let mut full = search(HashSet::new());
        assert!(full.look(file(text.as_bytes())).is_break());
        let found = full.finish();
        assert_eq!((found.open.len(), found.is_cut), (FINDINGS_MAX, true));
        let all = found.open.iter().map(|finding| finding.secret.fingerprint).collect();
        let mut allowed = search(all);
        assert!(allowed.look(file(text.as_bytes())).is_continue());
        let found = allowed.finish();
        assert_eq!((found.open.len(), found.allowed.len(), found.is_cut), (1, FINDINGS_MAX, false));
    }
}
