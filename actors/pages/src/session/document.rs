//! The shared document itself: what yrs holds, and how large it may become.

use std::mem::ManuallyDrop;

use domain::{Error, Result};
use yrs::{
    Doc, GetString, ReadTxn, StateVector, Text, TextRef, Transact, Update,
    updates::{decoder::Decode, encoder::Encode},
};

use super::prescan::prescan_update;

/// The shared text whose content is the page's Markdown.
pub const SHARED_TEXT: &str = "markdown";
/// The longest shared text, in bytes of UTF-8 (contract B 4.6: `Pages can be up to 1 MB.`).
pub const TEXT_LEN_MAX: usize = 1024 * 1024;
/// The longest state of a document, in bytes, with all that must be remembered of what was deleted.
pub const STATE_LEN_MAX: usize = 8 * 1024 * 1024;

/// From how many bytes of state on a document is large: what looks at all of it is done away from the actors' threads.
pub(super) const LARGE: usize = 64 * 1024;

/// The document would become larger than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// A document that is edited together.
pub(super) struct SharedDocument {
    doc: Doc,
    text: TextRef,
    /// The text is at most so long.
    text_len_bound: usize,
    /// The state is at most about so long.
    state_len_bound: usize,
}

impl SharedDocument {
    /// An empty one.
    pub(super) fn new() -> Self {
        let doc = Doc::new();
        let text = doc.get_or_insert_text(SHARED_TEXT);
        Self { doc, text, text_len_bound: 0, state_len_bound: 0 }
    }

    /// One whose text is a page's Markdown.
    pub(super) fn seeded(markdown: &str) -> Self {
        let mut document = Self::new();
        if !markdown.is_empty() {
            document.text.insert(&mut document.doc.transact_mut(), 0, markdown);
        }
        document.text_len_bound = markdown.len();
        document.state_len_bound = document.state().len();
        document
    }

    /// Takes in what was stored; what doesn't read means that the store is damaged.
    pub(super) fn restore(&mut self, update: &[u8]) -> Result<()> {
        let damaged = |error: &dyn std::fmt::Display| Error::internal(format_args!("a stored update: {error}"));
        let prescan = prescan_update(update).map_err(|error| damaged(&error))?;
        let decoded = Update::decode_v1(update).map_err(|error| damaged(&error))?;
        self.doc.transact_mut().apply_update(decoded).map_err(|error| damaged(&error))?;
        self.text_len_bound += prescan.text_len;
        self.state_len_bound += update.len();
        Ok(())
    }

    /// Whether whatever looks at all of it takes long.
    pub(super) const fn is_large(&self) -> bool {
        self.state_len_bound >= LARGE
    }

    /// Whether updates wait in it for others that they build on, each of which is then tried again with every update.
    pub(super) fn is_waiting(&self) -> bool {
        self.doc.transact().has_missing_updates()
    }

    /// Whether there is room for so much, as far as that can be said without measuring.
    pub(super) const fn fits(&self, len: usize, text_len: usize) -> bool {
        self.state_len_bound + len <= STATE_LEN_MAX && self.text_len_bound + text_len <= TEXT_LEN_MAX
    }

    /// Counts an update of this length in, with so much text; `false` when it can't be said without measuring that there is
    /// room for it.
    pub(super) fn has_room(&mut self, len: usize, text_len: usize) -> bool {
        let fits = self.fits(len, text_len);
        if fits {
            self.state_len_bound += len;
            self.text_len_bound += text_len;
        }
        fits
    }

    /// Measures, and where that doesn't tell either tries the update on a copy. All that came before it must be in.
    pub(super) fn makes_room(&mut self, update: &Update, len: usize, text_len: usize) -> Result<(), TooLarge> {
        self.state_len_bound = self.state().len();
        self.text_len_bound = self.text_len();
        if self.has_room(len, text_len) {
            return Ok(());
        }
        // A state can only shrink in another history; a text may be replaced by this very update.
        if self.state_len_bound + len > STATE_LEN_MAX {
            return Err(TooLarge);
        }
        // An update that only deletes helps, however long the text is.
        if text_len > 0 {
            self.try_on_a_copy(update)?;
        }
        self.state_len_bound += len;
        self.text_len_bound += text_len;
        Ok(())
    }

    fn try_on_a_copy(&self, update: &Update) -> Result<(), TooLarge> {
        let mut copy = Self::new();
        let fits = copy.restore(&self.state()).is_ok() && copy.restore(&update.encode_v1()).is_ok();
        if fits && copy.text_len() <= TEXT_LEN_MAX { Ok(()) } else { Err(TooLarge) }
    }

    /// Notes how long the state is.
    pub(super) fn measured(&mut self, state_len: usize) {
        self.state_len_bound = state_len;
    }

    /// Takes updates in, as one transaction; what others need to have them too, `None` when nothing is new. `begun` is told
    /// how many were begun with: when one is refused or breaks the document, that one did.
    ///
    /// An update that builds on others that haven't come yet waits for them inside the document.
    pub(super) fn apply(
        &mut self,
        updates: impl IntoIterator<Item = Update>,
        begun: &mut usize,
    ) -> Result<Option<Vec<u8>>> {
        // A transaction commits when it is dropped, which must not happen to one that an update broke: a panic then would
        // be a second one. Such a document is given up, and its memory with it.
        let mut transaction = ManuallyDrop::new(self.doc.transact_mut());
        for update in updates {
            *begun += 1;
            transaction.apply_update(update).map_err(Error::internal)?;
        }
        transaction.commit();
        let new = transaction.has_changes().then(|| transaction.encode_update_v1());
        drop(ManuallyDrop::into_inner(transaction));
        Ok(new)
    }

    /// Whether somebody who has `state_vector` has what isn't here.
    pub(super) fn lacks(&self, state_vector: &StateVector) -> bool {
        let own = self.doc.transact().state_vector();
        state_vector.iter().any(|(client, clock)| own.get(client) < *clock)
    }

    /// All of it, as one update.
    pub(super) fn state(&self) -> Vec<u8> {
        self.missing(&StateVector::default())
    }

    /// What somebody who has `state_vector` is missing.
    pub(super) fn missing(&self, state_vector: &StateVector) -> Vec<u8> {
        self.doc.transact().encode_state_as_update_v1(state_vector)
    }

    /// What it has.
    pub(super) fn state_vector(&self) -> Vec<u8> {
        self.doc.transact().state_vector().encode_v1()
    }

    /// The shared text.
    pub(super) fn text(&self) -> String {
        self.text.get_string(&self.doc.transact())
    }

    fn text_len(&self) -> usize {
        self.text().len()
    }
}

/// Tells texts apart; the same for all time, because it is stored (FNV-1a).
pub(super) fn text_hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use yrs::{Array, Map};

    use super::*;

    fn update_of(edit: impl FnOnce(&Doc)) -> Vec<u8> {
        let doc = Doc::new();
        edit(&doc);
        doc.transact().encode_state_as_update_v1(&StateVector::default())
    }

    fn decoded(update: &[u8]) -> Update {
        Update::decode_v1(update).unwrap()
    }

    #[test]
    fn what_is_taken_in_is_what_others_need() {
        let (mut one, mut two) = (SharedDocument::seeded("Hello"), SharedDocument::new());
        two.restore(&one.state()).unwrap();
        let edit = update_of(|doc| doc.get_or_insert_text(SHARED_TEXT).insert(&mut doc.transact_mut(), 0, "more "));
        let new = one.apply([decoded(&edit)], &mut 0).unwrap().unwrap();
        two.restore(&new).unwrap();
        assert_eq!(one.text(), two.text());
        assert_eq!(one.apply([decoded(&edit)], &mut 0).unwrap(), None, "known already");
    }

    #[test]
    fn a_seeded_document_says_what_it_was_seeded_with() {
        assert_eq!(SharedDocument::seeded("").text(), "");
        assert_eq!(SharedDocument::seeded("grüße 🎉").text(), "grüße 🎉");
    }

    #[test]
    fn a_document_has_room_up_to_its_limit_and_no_further() {
        let edit = update_of(|doc| doc.get_or_insert_text(SHARED_TEXT).insert(&mut doc.transact_mut(), 0, "ab"));
        let (update, room) = (decoded(&edit), |len: usize| SharedDocument::seeded(&"x".repeat(len)));
        assert!(room(TEXT_LEN_MAX - 3).has_room(edit.len(), 2));
        assert!(room(TEXT_LEN_MAX - 2).has_room(edit.len(), 2));
        let mut full = room(TEXT_LEN_MAX - 1);
        assert!(!full.has_room(edit.len(), 2));
        assert_eq!(full.makes_room(&update, edit.len(), 2), Err(TooLarge));
        // Text of another shared type doesn't count as the page's.
        let other = update_of(|doc| doc.get_or_insert_text("other").insert(&mut doc.transact_mut(), 0, "ab"));
        assert_eq!(full.makes_room(&decoded(&other), other.len(), 2), Ok(()));
        assert!(!SharedDocument::new().has_room(STATE_LEN_MAX + 1, 0));
    }

    #[test]
    fn damaged_updates_may_break_a_document_but_nothing_else() {
        let whole = update_of(|doc| {
            let (text, map, array) =
                (doc.get_or_insert_text(SHARED_TEXT), doc.get_or_insert_map("map"), doc.get_or_insert_array("array"));
            let mut transaction = doc.transact_mut();
            text.insert(&mut transaction, 0, "some text");
            text.insert(&mut transaction, 4, " more");
            text.remove_range(&mut transaction, 2, 3);
            map.insert(&mut transaction, "key", 1.5);
            array.insert_range(&mut transaction, 0, [1_i64, 2, 3]);
        });
        let base = SharedDocument::seeded("base").state();
        let mut applied = 0;
        for at in 0..whole.len() {
            for value in (0..=u8::MAX).step_by(5) {
                let mut damaged = whole.clone();
                damaged[at] ^= value;
                if prescan_update(&damaged).is_err() {
                    continue;
                }
                let Ok(update) = Update::decode_v1(&damaged) else { continue };
                let mut document = SharedDocument::new();
                document.restore(&base).unwrap();
                applied += usize::from(catch_unwind(AssertUnwindSafe(|| document.apply([update], &mut 0))).is_ok());
            }
        }
        assert!(applied > 1_000, "{applied}");
    }
}
