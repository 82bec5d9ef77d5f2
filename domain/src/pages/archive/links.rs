//! Naming the new pages of an import wherever the exported ones were named.

use std::collections::HashMap;

use crate::id::PageId;

/// Characters of an id.
const ID_LEN: usize = PageId::PREFIX.len() + 1 + 26;

/// Which new page stands for which exported one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links(HashMap<PageId, PageId>);

impl Links {
    /// Has `new` stand for `exported`; the first one stands where two files say that they are one page.
    pub(crate) fn add(&mut self, exported: PageId, new: PageId) {
        self.0.entry(exported).or_insert(new);
    }

    /// The new page for an exported one.
    pub fn of(&self, exported: PageId) -> Option<PageId> {
        self.0.get(&exported).copied()
    }

    /// The text, in Markdown or JSON, with the ids of the new pages. Ids are of one length, and so is the text.
    pub fn renew(&self, text: &str) -> String {
        let mark = format!("{}_", PageId::PREFIX);
        let mut renewed = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(&mark) {
            let new = rest.get(start..start + ID_LEN).and_then(|id| id.parse().ok()).and_then(|id| self.of(id));
            let end = start + new.map_or(mark.len(), |_| ID_LEN);
            match new {
                Some(new) => renewed.extend([&rest[..start], &new.to_string()]),
                None => renewed.push_str(&rest[..end]),
            }
            rest = &rest[end..];
        }
        renewed.push_str(rest);
        renewed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    #[test]
    fn an_id_is_renewed_wherever_it_stands_and_others_stay() {
        let [old, new, other] = [1, 2, 3].map(|at| PageId::new(Timestamp(at)));
        let mut links = Links::default();
        links.add(old, new);
        links.add(old, other);
        let text = format!("[a](/pages/{old}) {{\"x\": [\"{old}{old}\", \"{other}\"]}} doc_ doc_é doc_doc_ {old}");
        let expected = format!("[a](/pages/{new}) {{\"x\": [\"{new}{new}\", \"{other}\"]}} doc_ doc_é doc_doc_ {new}");
        assert_eq!(links.renew(&text), expected);
        assert_eq!(links.renew(""), "");
    }
}
