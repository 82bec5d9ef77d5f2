//! Finding secrets in the bytes of a file.

use std::{
    ops::{ControlFlow, Range},
    sync::Arc,
};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::{
    FoundSecret, SecretRule,
    finding::preview,
    fingerprint::FingerprintKey,
    private_key,
    token::{
        aws_access_key, aws_secret_key_after, aws_secret_key_before, github_fine_token, github_token, service_token,
        stripe_key,
    },
};
use crate::{
    error::{Error, Result},
    id::ResourceId,
    token::Token,
};

/// What makes it worth looking closer.
#[derive(Clone, Copy, Debug)]
enum Hint {
    AwsAccessKey,
    AwsSecretKey,
    StripeKey,
    KeyBegins,
    KeyEnds,
    ServiceToken,
    GithubToken,
    GithubFineToken,
}

/// The words that are looked for, in any case; whether the case is right is asked of those that are there.
const HINTS: [(&str, Hint); 15] = [
    ("AKIA", Hint::AwsAccessKey),
    ("ASIA", Hint::AwsAccessKey),
    ("aws", Hint::AwsSecretKey),
    ("secret", Hint::AwsSecretKey),
    ("sk_live_", Hint::StripeKey),
    ("rk_live_", Hint::StripeKey),
    ("-----BEGIN ", Hint::KeyBegins),
    ("-----END ", Hint::KeyEnds),
    ("trp_", Hint::ServiceToken),
    ("ghp_", Hint::GithubToken),
    ("gho_", Hint::GithubToken),
    ("ghu_", Hint::GithubToken),
    ("ghs_", Hint::GithubToken),
    ("ghr_", Hint::GithubToken),
    ("github_pat_", Hint::GithubFineToken),
];

/// What finds secrets. A cheap handle.
#[derive(Clone, Debug)]
pub struct SecretScanner {
    hints: Arc<AhoCorasick>,
    key: FingerprintKey,
}

impl SecretScanner {
    /// The scanner whose fingerprints belong to the server's secret.
    pub fn new(secret: &[u8]) -> Result<Self> {
        let hints = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(HINTS.map(|(word, _)| word))
            .map_err(Error::internal)?;
        Ok(Self { hints: Arc::new(hints), key: FingerprintKey::new(secret) })
    }

    /// Tells `found` of each secret in the bytes of a file of a repository, until it has heard enough; of a token of this program's
    /// with the token itself. A secret that is there twice is told of twice. It takes time in proportion to the bytes, whatever they
    /// are.
    pub fn scan(
        &self,
        repository: ResourceId,
        text: &[u8],
        mut found: impl FnMut(FoundSecret, Option<Token>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut lines, mut places) = (Lines { text, at: 0, line: 1 }, Places { text, begun: None, last: 0..0 });
        for hit in self.hints.find_overlapping_iter(text) {
            let (word, hint) = HINTS[hit.pattern().as_usize()];
            let is_as_written = text[hit.range()] == *word.as_bytes();
            for (rule, place) in places.at(hint, hit.range(), is_as_written).into_iter().flatten() {
                let key = match rule {
                    SecretRule::PrivateKey => private_key::key_in(text, place.clone()),
                    _ => None,
                };
                let secret = key.as_deref().unwrap_or(&text[place.clone()]);
                let token = std::str::from_utf8(secret).ok().filter(|_| rule == SecretRule::ServiceToken);
                let secret = FoundSecret {
                    rule,
                    line: lines.of(place.start),
                    fingerprint: self.key.of(repository, rule, secret),
                    preview: preview(secret),
                };
                found(secret, token.and_then(|token| token.parse().ok()))?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Where secrets are in a text.
struct Places<'t> {
    text: &'t [u8],
    /// Where a private key begins that hasn't ended.
    begun: Option<usize>,
    /// The last place of a secret key of AWS's, of which several words may speak.
    last: Range<usize>,
}

type Place = Option<(SecretRule, Range<usize>)>;

impl Places<'_> {
    /// The secrets that a hint leads to.
    fn at(&mut self, hint: Hint, word: Range<usize>, is_as_written: bool) -> [Place; 2] {
        if let Hint::AwsSecretKey = hint {
            return [aws_secret_key_before(self.text, &word), aws_secret_key_after(self.text, &word)]
                .map(|place| self.aws_secret_key(place?));
        }
        let place = if is_as_written { self.exactly_at(hint, word) } else { None };
        [place, None]
    }

    fn aws_secret_key(&mut self, place: Range<usize>) -> Place {
        if place == self.last {
            return None;
        }
        self.last = place.clone();
        Some((SecretRule::AwsSecretKey, place))
    }

    fn exactly_at(&mut self, hint: Hint, word: Range<usize>) -> Place {
        let (text, start) = (self.text, word.start);
        let (rule, place) = match hint {
            Hint::AwsSecretKey => return None,
            Hint::AwsAccessKey => (SecretRule::AwsAccessKey, aws_access_key(text, start)),
            Hint::StripeKey => (SecretRule::StripeKey, stripe_key(text, start)),
            Hint::ServiceToken => (SecretRule::ServiceToken, service_token(text, start)),
            Hint::GithubToken => (SecretRule::GithubToken, github_token(text, start)),
            Hint::GithubFineToken => (SecretRule::GithubToken, github_fine_token(text, start)),
            Hint::KeyBegins => {
                self.begun = private_key::begins(text, word.end);
                return None;
            }
            Hint::KeyEnds => {
                let block = self.begun.take()?..start;
                let is_key = private_key::key_in(text, block.clone()).is_some();
                (SecretRule::PrivateKey, is_key.then_some(block))
            }
        };
        Some((rule, place?))
    }
}

/// Counts lines from where they were last asked for.
struct Lines<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
}

impl Lines<'_> {
    /// The line of a place, from 1.
    fn of(&mut self, place: usize) -> u32 {
        let ends = |range: Range<usize>| {
            u32::try_from(memchr::memchr_iter(b'\n', &self.text[range]).count()).unwrap_or(u32::MAX)
        };
        self.line = if place >= self.at {
            self.line.saturating_add(ends(self.at..place))
        } else {
            self.line.saturating_sub(ends(place..self.at))
        };
        self.at = place;
        self.line
    }
}

#[cfg(test)]
mod tests;
