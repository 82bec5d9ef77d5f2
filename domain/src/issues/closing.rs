//! What texts of repositories say of issues: `closes WEB-12` in a pull request, or in the message of a commit.

use std::collections::HashMap;

use super::key::IssueKey;
use crate::{Authority, Caller, Scope};

/// Issues that one push names, at most; what is named behind them is passed over.
pub const CLOSED_KEYS_MAX: usize = 100;
/// Commits of one push whose messages are read, the newest.
pub const CLOSING_COMMITS_MAX: u64 = 1_000;
/// Bytes of a text that are read.
pub const CLOSING_TEXT_LEN_MAX: usize = 65_536;

/// What an issue's history says where a way is missing to a status that is done.
pub const NO_WAY: &str = "No transition leads from its status to one that is done.";
/// The same where the space doesn't let the person change its status.
pub const NO_RIGHT: &str = "The status of issues in this space is for others to change.";

/// What announces keys.
const WORDS: [&str; 9] = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

/// Whether issues are closed by what the caller brings to a repository: a person's, by themselves or with their machine's key, and a
/// program's whose key may write issues. What a job's credential brings closes nothing, as it starts nothing.
pub fn closes_issues(caller: &Caller, authority: &Authority) -> bool {
    match caller {
        Caller::Person(_) => true,
        Caller::Key(key) => key.is_machine || authority.has(Scope::IssuesWrite),
        Caller::AccessKey(_) | Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => false,
    }
}

/// The issues that a text says it closes, each once, in the order of the text. A key stands behind one of the words, or behind another
/// key and a comma or `and`; code, in spans or fences, says nothing.
pub fn closed_keys(text: &str) -> Vec<IssueKey> {
    let mut keys = Vec::new();
    let mut reading = Reading::Nothing;
    let plain = without_code(beginning(text));
    for token in Tokens(&plain) {
        reading = reading.after(token, &mut keys);
    }
    keys
}

/// The first bytes of a text, whole characters of it.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(CLOSING_TEXT_LEN_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    /// Letters, digits, hyphens and whatever else makes a word another one.
    Word(&'a str),
    /// White space without an empty line.
    Gap,
    /// An empty line.
    Break,
    /// Anything else.
    Mark(char),
}

/// The pieces of a text.
struct Tokens<'a>(&'a str);

fn is_of_word(it: char) -> bool {
    it.is_alphanumeric() || matches!(it, '_' | '-' | '/')
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let text = self.0;
        let first = text.chars().next()?;
        if first.is_whitespace() {
            let end = text.find(|it: char| !it.is_whitespace()).unwrap_or(text.len());
            self.0 = &text[end..];
            let lines = text[..end].matches('\n').count();
            return Some(if lines > 1 { Token::Break } else { Token::Gap });
        }
        if !is_of_word(first) {
            self.0 = &text[first.len_utf8()..];
            return Some(Token::Mark(first));
        }
        let end = word_end(text);
        self.0 = &text[end..];
        Some(Token::Word(&text[..end]))
    }
}

/// Where the word ends that a text begins with. A dot belongs to it where the word goes on behind.
fn word_end(text: &str) -> usize {
    let mut rest = text.char_indices().peekable();
    while let Some((at, it)) = rest.next() {
        let goes_on = it == '.' && rest.peek().is_some_and(|(_, next)| is_of_word(*next));
        if !is_of_word(it) && !goes_on {
            return at;
        }
    }
    text.len()
}

/// What was read last.
#[derive(Clone, Copy, Debug)]
enum Reading {
    Nothing,
    /// One of the words, and whether a key may follow.
    Announced {
        is_apart: bool,
        has_colon: bool,
    },
    /// A key, and whether what joins another one to it.
    Listing {
        is_joined: bool,
    },
}

impl Reading {
    fn after(self, token: Token<'_>, keys: &mut Vec<IssueKey>) -> Self {
        match (self, token) {
            (Self::Announced { has_colon, .. }, Token::Gap) => Self::Announced { is_apart: true, has_colon },
            (Self::Announced { is_apart: false, has_colon: false }, Token::Mark(':')) => {
                Self::Announced { is_apart: true, has_colon: true }
            }
            (Self::Listing { .. }, Token::Gap) => self,
            (Self::Listing { .. }, Token::Mark(',' | '&')) => Self::Listing { is_joined: true },
            (Self::Listing { .. }, Token::Word(word)) if word.eq_ignore_ascii_case("and") => {
                Self::Listing { is_joined: true }
            }
            (Self::Announced { is_apart: true, .. } | Self::Listing { is_joined: true }, Token::Word(word)) => {
                let Ok(key) = word.parse::<IssueKey>() else { return Self::of_word(word) };
                if !keys.contains(&key) && keys.len() < CLOSED_KEYS_MAX {
                    keys.push(key);
                }
                Self::Listing { is_joined: false }
            }
            (_, Token::Word(word)) => Self::of_word(word),
            _ => Self::Nothing,
        }
    }

    fn of_word(word: &str) -> Self {
        if WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)) {
            Self::Announced { is_apart: false, has_colon: false }
        } else {
            Self::Nothing
        }
    }
}

/// A text in Markdown without what is code in it; a mark stands where something was.
fn without_code(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let (mut paragraph, mut fence) = (String::new(), None);
    for line in text.lines() {
        match (fence, fence_of(line)) {
            (Some((mark, len)), found) => {
                let ends = found.is_some_and(|(it, count, rest)| it == mark && count >= len && rest.trim().is_empty());
                if ends {
                    fence = None;
                }
            }
            (None, Some((mark, len, _))) => {
                push_without_spans(&mut plain, &paragraph);
                paragraph.clear();
                plain.push_str("`\n\n");
                fence = Some((mark, len));
            }
            (None, None) if line.trim().is_empty() => {
                push_without_spans(&mut plain, &paragraph);
                paragraph.clear();
                plain.push_str("\n\n");
            }
            (None, None) => {
                paragraph.push_str(line);
                paragraph.push('\n');
            }
        }
    }
    push_without_spans(&mut plain, &paragraph);
    plain
}

/// What a fence of code is made of, how long it is, and what stands behind it; nothing where the line is none.
fn fence_of(line: &str) -> Option<(char, usize, &str)> {
    let inner = line.trim_start_matches(' ');
    if line.len() - inner.len() > 3 {
        return None;
    }
    let mark = inner.chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let rest = inner.trim_start_matches(mark);
    let len = inner.len() - rest.len();
    let is_fence = len >= 3 && !(mark == '`' && rest.contains('`'));
    is_fence.then_some((mark, len, rest))
}

/// Adds a paragraph without its code spans: what stands between two runs of as many backticks.
fn push_without_spans(plain: &mut String, paragraph: &str) {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in paragraph.match_indices('`') {
        match runs.last_mut() {
            Some((begin, len)) if *begin + *len == at => *len += 1,
            _ => runs.push((at, 1)),
        }
    }
    // The next run of the same length, looked for from the end.
    let (mut next, mut known) = (vec![None; runs.len()], HashMap::new());
    for (at, (_, len)) in runs.iter().enumerate().rev() {
        next[at] = known.insert(*len, at);
    }
    let (mut from, mut at) = (0, 0);
    while let Some((begin, _)) = runs.get(at) {
        let Some(closing) = next[at] else {
            at += 1;
            continue;
        };
        let (end, len) = runs[closing];
        plain.push_str(&paragraph[from..*begin]);
        plain.push('`');
        from = end + len;
        at = closing + 1;
    }
    plain.push_str(&paragraph[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        KeyCaller, KeyKind, Role, ScopeSet, Timestamp,
        authority::tests::key_of,
        id::{JobId, KeyId, OrgId, UserId},
    };

    fn keys(text: &str) -> Vec<String> {
        closed_keys(text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_of_the_words_announces_a_key_in_any_case() {
        for word in WORDS {
            for text in [format!("{word} WEB-12"), format!("Well, {} web-12.", word.to_uppercase())] {
                assert_eq!(keys(&text), ["WEB-12"], "{text}");
            }
        }
        for text in ["Fixes: WEB-12", "fixes:WEB-12", "(closes WEB-12)", "**closes WEB-12**", "closes\nWEB-12\n"] {
            assert_eq!(keys(text), ["WEB-12"], "{text}");
        }
    }

    #[test]
    fn several_keys_are_joined_and_each_is_named_once() {
        assert_eq!(keys("Closes WEB-3, APP-1 and web-2 & WEB-3. Fixes WEB-9"), ["WEB-3", "APP-1", "WEB-2", "WEB-9"]);
        assert_eq!(keys("closes WEB-1,WEB-2, and WEB-4"), ["WEB-1", "WEB-2", "WEB-4"]);
        assert_eq!(keys("closes WEB-1 WEB-2"), ["WEB-1"]);
        assert_eq!(keys("closes WEB-1; WEB-2"), ["WEB-1"]);
        assert_eq!(keys("closes WEB-1, then WEB-2"), ["WEB-1"]);
    }

    #[test]
    fn what_is_no_word_of_its_own_is_passed_over() {
        for text in [
            "",
            "WEB-12",
            "closes",
            "closes nothing WEB-12",
            "encloses WEB-12",
            "auto-closes WEB-12",
            "closing WEB-12",
            "closesWEB-12",
            "closes WEB-12a",
            "closes WEB-12-3",
            "closes WEB-12.5",
            "closes WEB-12/x",
            "closes aWEB_WEB-12",
            "closes #WEB-12",
            "closes WEB-0",
            "closes\n\nWEB-12",
            "closes : WEB-12",
            "closes é WEB-12",
        ] {
            assert_eq!(keys(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn code_says_nothing() {
        for text in [
            "`closes WEB-1`",
            "closes `WEB-1`",
            "``closes ` WEB-1``",
            "a `span\ncloses WEB-1 goes` on",
            "```\ncloses WEB-1\n```",
            "~~~ text\n```\ncloses WEB-1\n~~~~",
            "   ````\ncloses WEB-1\n```\ncloses WEB-1",
        ] {
            assert_eq!(keys(text), [""; 0], "{text}");
        }
        for text in [
            "`closes WEB-1",
            "`` closes WEB-1 `",
            "a `b` closes WEB-1 `c`",
            "```\nx\n```\ncloses WEB-1",
            "`a\n\nb` closes WEB-1",
            "``` a`b closes WEB-1",
        ] {
            assert_eq!(keys(text), ["WEB-1"], "{text}");
        }
    }

    #[test]
    fn only_so_much_is_read() {
        let many: Vec<_> = (1..=CLOSED_KEYS_MAX + 1).map(|at| format!("closes WEB-{at}")).collect();
        assert_eq!(keys(&many[..CLOSED_KEYS_MAX].join("\n")).len(), CLOSED_KEYS_MAX);
        assert_eq!(keys(&many.join("\n")).len(), CLOSED_KEYS_MAX);
        let behind = "closes WEB-1";
        let fits = format!("{} {behind}", ".".repeat(CLOSING_TEXT_LEN_MAX - behind.len() - 1));
        assert_eq!(keys(&fits), ["WEB-1"]);
        assert_eq!(keys(&format!("é{}", &fits[2..])), ["WEB-1"]);
        assert_eq!(keys(&format!("é{fits}")), [""; 0]);
        // Runs of every length, none of which ends a span.
        let runs: Vec<_> = (1..300).map(|len| "`".repeat(len)).collect();
        assert_eq!(keys(&format!("{} closes WEB-1", runs.join(" "))), ["WEB-1"]);
    }

    #[test]
    fn a_program_closes_what_its_key_may_write() {
        let now = Timestamp(1_700_000_000_000);
        let (org_id, user_id) = (OrgId::new(now), UserId::new(now));
        let key = |is_machine| {
            let (key_id, kind, scopes) = (KeyId::new(now), KeyKind::Api, ScopeSet::EMPTY);
            Caller::Key(KeyCaller { key_id, org_id, maker: user_id, kind, scopes, is_machine })
        };
        let git = key_of(user_id, Role::Admin, &[Scope::GitWrite]);
        let both = key_of(user_id, Role::Admin, &[Scope::GitWrite, Scope::IssuesWrite]);
        assert!(closes_issues(&key(true), &git) && closes_issues(&key(false), &both));
        assert!(!closes_issues(&key(false), &git) && !closes_issues(&Caller::System, &both));
        let job = crate::JobCaller { job_id: JobId::new(now), org_id, started_by: user_id };
        assert!(!closes_issues(&Caller::Job(job), &both));
    }
}
