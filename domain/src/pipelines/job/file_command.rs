//! What a step writes into the files that `GITHUB_OUTPUT`, `GITHUB_ENV` and `GITHUB_STATE` name, as at GitHub: `name=value`, or
//! `name<<WORD`, lines, and `WORD`.

/// Why such a file can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// A line is neither of the two.
    #[error("Invalid format '{0}'")]
    Line(String),
    /// A value has no end.
    #[error("Invalid value. Matching delimiter not found '{0}'")]
    Delimiter(String),
}

/// Characters that a fault shows of a line, at most.
const SHOWN_LEN_MAX: usize = 100;

/// The values of a file, in their order.
pub fn read_values(text: &str) -> Result<Vec<(String, String)>, FileFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut values = Vec::new();
    while let Some(line) = lines.next() {
        if line.is_empty() {
            continue;
        }
        let fault = || FileFault::Line(line.chars().take(SHOWN_LEN_MAX).collect());
        let (equals, heredoc) = (line.find('='), line.find("<<"));
        let is_plain = equals.is_some_and(|at| heredoc.is_none_or(|other| at < other));
        let (name, value) = if is_plain {
            let (name, value) = line.split_once('=').ok_or_else(fault)?;
            (name, value.to_owned())
        } else {
            let (name, word) = line.split_once("<<").ok_or_else(fault)?;
            if word.is_empty() {
                return Err(fault());
            }
            (name, until(&mut lines, word)?)
        };
        if name.is_empty() {
            return Err(fault());
        }
        values.push((name.to_owned(), value));
    }
    Ok(values)
}

/// The lines up to one that is nothing but the word.
fn until<'t>(lines: &mut impl Iterator<Item = &'t str>, word: &str) -> Result<String, FileFault> {
    let mut value = Vec::new();
    for line in lines {
        if line == word {
            return Ok(value.join("\n"));
        }
        value.push(line);
    }
    Err(FileFault::Delimiter(word.chars().take(SHOWN_LEN_MAX).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        read_values(text).unwrap()
    }

    fn values(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn values_stand_in_a_line_or_between_words() {
        assert_eq!(read(""), values(&[]));
        assert_eq!(read("a=1\n\nb=2=3\r\nc=\n"), values(&[("a", "1"), ("b", "2=3"), ("c", "")]));
        assert_eq!(read("a=x<<y\n"), values(&[("a", "x<<y")]));
        assert_eq!(read("a<<END\none\n\ntwo=2\nEND\nb=1"), values(&[("a", "one\n\ntwo=2"), ("b", "1")]));
        assert_eq!(read("a<<END\nEND\n"), values(&[("a", "")]));
        assert_eq!(read("a<<==\nx\n==\n"), values(&[("a", "x")]));
    }

    #[test]
    fn what_is_neither_is_a_fault() {
        assert_eq!(read_values("word"), Err(FileFault::Line("word".to_owned())));
        assert_eq!(read_values("=1"), Err(FileFault::Line("=1".to_owned())));
        assert_eq!(read_values("a<<"), Err(FileFault::Line("a<<".to_owned())));
        assert_eq!(read_values("a<<END\nx\n"), Err(FileFault::Delimiter("END".to_owned())));
    }
}
