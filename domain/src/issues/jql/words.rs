//! The words of the language: its keywords, and those that nobody may use without quotes.

/// A word, or a sign that stands for one, that has a meaning of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyword {
    In,
    Is,
    And,
    Or,
    Not,
    Empty,
    Was,
    Changed,
    Before,
    After,
    From,
    To,
    On,
    During,
    Order,
    By,
    Asc,
    Desc,
}

/// What a bare word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Keyword(Keyword),
    /// `cf`, which begins the number of a custom field.
    CustomField,
    /// A word that must be quoted.
    Reserved,
    /// A number: digits, with a minus before them at will.
    Number,
    /// A text like any other.
    Text,
}

const KEYWORDS: [(&str, Keyword); 19] = [
    ("in", Keyword::In),
    ("is", Keyword::Is),
    ("and", Keyword::And),
    ("or", Keyword::Or),
    ("not", Keyword::Not),
    ("empty", Keyword::Empty),
    ("null", Keyword::Empty),
    ("was", Keyword::Was),
    ("changed", Keyword::Changed),
    ("before", Keyword::Before),
    ("after", Keyword::After),
    ("from", Keyword::From),
    ("to", Keyword::To),
    ("on", Keyword::On),
    ("during", Keyword::During),
    ("order", Keyword::Order),
    ("by", Keyword::By),
    ("asc", Keyword::Asc),
    ("desc", Keyword::Desc),
];

/// The words that are kept for a language that Jira's may become, in the order of the alphabet.
#[rustfmt::skip]
const RESERVED: [&str; 159] = [
    "abort", "access", "add", "alias", "alter", "any", "as", "audit", "avg", "begin", "between", "boolean", "break", "byte",
    "catch", "char", "character", "check", "checkpoint", "collate", "collation", "column", "commit", "connect", "continue",
    "count", "create", "current", "date", "decimal", "declare", "decrement", "default", "defaults", "define", "delete",
    "delimiter", "difference", "distinct", "divide", "do", "double", "drop", "else", "encoding", "end", "equals", "escape",
    "exclusive", "exec", "execute", "exists", "explain", "false", "fetch", "field", "file", "first", "float", "for", "function",
    "go", "goto", "grant", "greater", "group", "having", "identified", "if", "immediate", "increment", "index", "initial",
    "inner", "inout", "input", "insert", "int", "integer", "intersect", "intersection", "into", "isempty", "isnull", "join",
    "last", "left", "less", "like", "limit", "lock", "long", "max", "min", "minus", "mode", "modify", "modulo", "more",
    "multiply", "next", "noaudit", "notin", "nowait", "number", "object", "of", "option", "outer", "output", "power",
    "previous", "prior", "privileges", "public", "raise", "raw", "remainder", "rename", "resource", "return", "returns",
    "revoke", "right", "row", "rowid", "rownum", "rows", "select", "session", "set", "share", "size", "sqrt", "start", "strict",
    "string", "subtract", "sum", "synonym", "table", "then", "trans", "transaction", "trigger", "true", "uid", "union",
    "unique", "update", "user", "validate", "values", "view", "when", "whenever", "where", "while", "with",
];

/// Characters of the longest word with a meaning of its own.
const WORD_LEN_MAX: usize = 12;

/// What a bare word is, in whatever case it stands.
pub(super) fn meaning(word: &str) -> Meaning {
    let digits = word.strip_prefix('-').unwrap_or(word);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Meaning::Number;
    }
    if word.len() > WORD_LEN_MAX || !word.is_ascii() {
        return Meaning::Text;
    }
    let word = word.to_ascii_lowercase();
    if let Some((_, keyword)) = KEYWORDS.iter().find(|(name, _)| *name == word) {
        return Meaning::Keyword(*keyword);
    }
    match word.as_str() {
        "cf" => Meaning::CustomField,
        word if RESERVED.binary_search(&word).is_ok() => Meaning::Reserved,
        _ => Meaning::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_can_be_searched_and_are_not_too_long() {
        assert!(RESERVED.is_sorted());
        let longest = RESERVED.iter().chain(KEYWORDS.iter().map(|(name, _)| name)).map(|word| word.len()).max();
        assert_eq!(longest, Some(WORD_LEN_MAX));
    }

    #[test]
    fn words_are_told_apart_in_any_case() {
        assert_eq!(meaning("NuLL"), Meaning::Keyword(Keyword::Empty));
        assert_eq!(meaning("SELECT"), Meaning::Reserved);
        assert_eq!(meaning("Cf"), Meaning::CustomField);
        assert_eq!(meaning("-007"), Meaning::Number);
        for text in ["-", "1.5", "-1w", "selects", "ıs", "ſet", "--1"] {
            assert_eq!(meaning(text), Meaning::Text, "{text}");
        }
    }
}
