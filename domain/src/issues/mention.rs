//! People whom a text mentions: `<@usr_…>`, wherever it stands.

use crate::id::UserId;

/// People whom a text mentions at most; what it says of more is passed over.
pub const MENTIONED_MAX: usize = 50;

/// Whom a text mentions, each once, in their order.
pub fn mentioned(text: &str) -> Vec<UserId> {
    let mut people = Vec::new();
    for rest in text.split("<@").skip(1) {
        let id = rest.split_once('>').and_then(|(id, _)| id.parse().ok());
        if let Some(id) = id.filter(|id| !people.contains(id)) {
            people.push(id);
        }
        if people.len() == MENTIONED_MAX {
            break;
        }
    }
    people
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn people_are_mentioned_by_their_ids() {
        let [one, other] = [1, 2].map(|at| UserId::new(Timestamp(at)));
        for (text, expected) in [
            (format!("<@{one}> and <@{other}>, <@{one}>!"), vec![one, other]),
            (format!("`<@{other}>`"), vec![other]),
            (format!("<@<@{one}>"), vec![one]),
            (format!("@{one} <@ {one}> <@{one} > <{one}> <@{one}"), vec![]),
            ("<@> <@usr_> <@ada> <@org_01jd7rt4m5e9fv2w8x3c6k0hqz>".to_owned(), vec![]),
            (String::new(), vec![]),
        ] {
            assert_eq!(mentioned(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_mentions_only_so_many() {
        let people: Vec<_> = (0..51).map(|_| format!("<@{}>", UserId::new(Timestamp(1)))).collect();
        let of = |count: usize| people[..count].concat();
        assert_eq!([49, 50, 51].map(|count| mentioned(&of(count)).len()), [49, 50, 50]);
    }
}
