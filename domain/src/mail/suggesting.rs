//! Whom an address field suggests: people whom the mailbox wrote to and heard from, then members of the organization.

use std::collections::BTreeSet;

use super::Correspondent;
use crate::pages::search::words;

/// People that are suggested.
pub const SUGGESTED_MAX: usize = 10;
/// Characters of what is written so far.
pub const SUGGEST_LEN_MAX: usize = 100;
/// People of a mailbox among whom is looked: those met last.
pub const SUGGESTED_FROM: u32 = 5_000;

/// The first of these people who fit what is written so far, each address once, without the mailbox's own. Each word that is written
/// begins one of a person's name or address.
pub fn suggested(
    people: impl IntoIterator<Item = Correspondent>,
    written: &str,
    own: &BTreeSet<String>,
) -> Vec<Correspondent> {
    let asked: Vec<_> = words(written).map(|word| word.folded.into_owned()).collect();
    let fits = |it: &Correspondent| {
        let texts = [it.name.as_deref().unwrap_or_default(), it.email.as_str()];
        let known: Vec<_> = texts.into_iter().flat_map(words).map(|word| word.folded).collect();
        asked.iter().all(|asked| known.iter().any(|word| word.starts_with(asked.as_str())))
    };
    let mut seen = own.clone();
    let found = people.into_iter().filter(|it| fits(it) && seen.insert(it.email.clone()));
    found.take(SUGGESTED_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str, email: &str) -> Correspondent {
        Correspondent { name: Some(name.to_owned()).filter(|it| !it.is_empty()), email: email.to_owned() }
    }

    fn found(written: &str) -> Vec<String> {
        let people = [
            person("Björn Borg", "bb@example.org"),
            person("", "carol@shop.example"),
            person("Ada", "ada@acme.example"),
            person("Bob", "carol@shop.example"),
            person("Borka", "borka@acme.example"),
        ];
        let own = BTreeSet::from(["ada@acme.example".to_owned()]);
        suggested(people, written, &own).into_iter().map(|it| it.email).collect()
    }

    #[test]
    fn each_word_begins_one_of_a_name_or_an_address() {
        assert_eq!(found("bjo"), ["bb@example.org"]);
        assert_eq!(found("bor"), ["bb@example.org", "borka@acme.example"]);
        assert_eq!(found("bor acme"), ["borka@acme.example"]);
        assert_eq!(found("carol@sh"), ["carol@shop.example"]);
        assert_eq!(found("org"), ["bb@example.org"]);
        assert_eq!(found("rn"), Vec::<String>::new());
    }

    #[test]
    fn nobody_twice_nobody_of_the_mailbox_and_so_many() {
        assert_eq!(found(""), ["bb@example.org", "carol@shop.example", "borka@acme.example"]);
        let many = (0..50).map(|number| person("", &format!("a{number}@example.org")));
        assert_eq!(suggested(many, "a", &BTreeSet::new()).len(), SUGGESTED_MAX);
    }
}
