//! Patterns of filters: GitHub's globs, where `?` and `+` say how often the character before them comes.

/// A pattern that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    what: What,
    often: Often,
}

/// Which characters a step takes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    This(char),
    /// `*`: all but `/`.
    Name,
    /// `**`: all.
    Path,
    /// `[a-z]`
    Of(Vec<(char, char)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Often {
    Once,
    /// `?`
    Perhaps,
    /// `+`
    Again,
    /// `*` and `**`
    Any,
}

impl Glob {
    /// Reads a pattern, without the `!` in front. None where brackets mean nothing, or `?` and `+` follow nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut steps: Vec<Step> = Vec::new();
        let mut rest = text.chars().peekable();
        while let Some(character) = rest.next() {
            let (what, often) = match character {
                '*' if rest.next_if_eq(&'*').is_some() => {
                    // Between slashes, two stars stand for no folder too.
                    let is_folder = steps.last().is_none_or(|step| step.what == What::This('/'));
                    if is_folder && rest.next_if_eq(&'/').is_some() {
                        steps.push(Step { what: What::Path, often: Often::Perhaps });
                        continue;
                    }
                    (What::Path, Often::Any)
                }
                '*' => (What::Name, Often::Any),
                '?' | '+' => {
                    let last = steps.last_mut().filter(|step| step.often == Often::Once)?;
                    last.often = if character == '?' { Often::Perhaps } else { Often::Again };
                    continue;
                }
                '[' => (What::Of(ranges(&mut rest)?), Often::Once),
                '\\' => (What::This(rest.next()?), Often::Once),
                _ => (What::This(character), Often::Once),
            };
            steps.push(Step { what, often });
        }
        Some(Self { text: text.to_owned(), steps })
    }

    /// The pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether all of the text is what the pattern says. Takes a time of the product of both lengths.
    pub fn matches(&self, text: &str) -> bool {
        let mut places = vec![false; self.steps.len() + 1];
        places[0] = true;
        self.skip(&mut places, true);
        for character in text.chars() {
            let mut next = vec![false; self.steps.len() + 1];
            for (at, step) in self.steps.iter().enumerate() {
                if !places[at] || !step.what.takes(character) {
                    continue;
                }
                let is_folders = step.what == What::Path && step.often == Often::Perhaps;
                next[at] |= matches!(step.often, Often::Any | Often::Again) || is_folders;
                next[at + 1] |= if is_folders { character == '/' } else { step.often != Often::Any };
            }
            self.skip(&mut next, character == '/');
            places = next;
        }
        places[self.steps.len()]
    }

    /// Steps that may take nothing let those behind them begin. Folders only where a name begins.
    fn skip(&self, places: &mut [bool], is_name_start: bool) {
        for (at, step) in self.steps.iter().enumerate() {
            let is_folders = step.what == What::Path && step.often == Often::Perhaps;
            let is_optional = matches!(step.often, Often::Any | Often::Perhaps) && (!is_folders || is_name_start);
            places[at + 1] |= places[at] && is_optional;
        }
    }
}

impl What {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::This(this) => *this == character,
            Self::Name => character != '/',
            Self::Path => true,
            Self::Of(ranges) => ranges.iter().any(|(first, last)| (*first..=*last).contains(&character)),
        }
    }
}

/// What stands in brackets: letters, digits and ranges of them.
fn ranges(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Vec<(char, char)>> {
    let mut ranges = Vec::new();
    loop {
        let first = rest.next()?;
        if first == ']' {
            return Some(ranges).filter(|ranges| !ranges.is_empty());
        }
        let last = if rest.next_if_eq(&'-').is_some() { rest.next()? } else { first };
        if first > last || last == ']' {
            return None;
        }
        ranges.push((first, last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_githubs_documentation_says() {
        for (pattern, yes, no) in [
            ("main", &["main"][..], &["mai", "maine", "a/main"][..]),
            ("feature/*", &["feature/a", "feature/"], &["feature/a/b", "feature"]),
            ("feature/**", &["feature/a", "feature/a/b"], &["feature"]),
            ("releases/**-alpha", &["releases/1-alpha", "releases/a/b-alpha"], &["releases/1-beta"]),
            ("*", &["main", ""], &["a/b"]),
            ("**", &["main", "a/b/c"], &[]),
            ("*feature", &["my-feature", "feature"], &["ver-10-features"]),
            ("v2*", &["v2", "v2.0", "v2.9"], &["v1"]),
            ("v[12].[0-9]+.[0-9]+", &["v1.10.1", "v2.0.0"], &["v3.0.0", "v1..0", "v1.0"]),
            ("*.jsx?", &["page.js", "page.jsx"], &["page.jsxx", "a/page.js"]),
            ("**.js", &["index.js", "src/js/app.js"], &["index.ts"]),
            ("docs/**/*.md", &["docs/a.md", "docs/b/c/a.md"], &["docs.md", "docs/a.txt", "xdocs/a.md"]),
            ("**/docs/**", &["docs/hello.md", "dir/docs/a/b.txt"], &["dir/mydocs/a"]),
            ("**/README.md", &["README.md", "js/README.md"], &["js/MYREADME.md"]),
            ("**/*src/**", &["a/src/app.js", "my-src/code/js/app.js"], &["src"]),
            ("**/*-post.md", &["my-post.md", "path/their-post.md"], &["post.md"]),
            ("\\*", &["*"], &["a"]),
            ("ä+", &["ä", "äää"], &["", "a"]),
            ("a?a?a?b", &["b", "ab", "aaab"], &["aaaab"]),
        ] {
            let glob = Glob::parse(pattern).unwrap();
            assert_eq!(yes.iter().find(|text| !glob.matches(text)), None, "{pattern}");
            assert_eq!(no.iter().find(|text| glob.matches(text)), None, "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_means_nothing_is_refused() {
        for pattern in ["?", "+a", "a**?", "[", "[]", "[z-a]", "a++", "\\", "[a-]"] {
            assert_eq!(Glob::parse(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn long_patterns_and_texts_take_no_time() {
        let glob = Glob::parse(&"**a".repeat(300)).unwrap();
        assert!(!glob.matches(&"a".repeat(299)));
        assert!(glob.matches(&"ba".repeat(300)));
    }
}
