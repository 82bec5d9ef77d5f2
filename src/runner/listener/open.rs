//! Lines that are too long to wait for their end. What is shown of one is certain: no secret, character or mark that begins there
//! ends in what hasn't come yet.

use std::ops::Range;

use domain::pipelines::{
    job::WorkflowCommand,
    logs::{MASK, Masks, shown},
};
use memchr::{memmem, memrchr};

use super::{Heard, LINE_LEN_MAX, Listener};

/// Bytes of a command and of a mark, at most, which have a meaning only as a whole.
pub(super) const WORD_LEN_MAX: usize = 4 * 1024 * 1024;
/// Bytes of colours that may stand in the middle of a secret.
pub(super) const COLOURS_LEN_MAX: usize = 1024;

/// What became of a line whose end hasn't come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Open {
    /// Nothing yet.
    Fresh,
    /// So many bytes at its beginning are there only for the secrets that begin in them; what they say was shown.
    Shown(usize),
    /// The line is too long for what it is: nothing of it is shown.
    Dropped,
}

impl Listener {
    /// Shows what is certain of a line that is longer than one may be.
    pub(super) fn relieve(&mut self, heard: &mut impl FnMut(Heard)) {
        let margin = self.margin();
        let known = if let Open::Shown(len) = self.open { len } else { 0 };
        if self.rest.len() <= known + LINE_LEN_MAX + margin {
            return;
        }
        match memmem::find(&self.rest, self.prefix.as_bytes()) {
            Some(0) => self.relieve_mark(),
            Some(at) => {
                let mark = self.rest.split_off(at);
                self.printed(heard);
                self.rest = mark;
            }
            None if self.open == Open::Dropped => self.forget(self.rest.len() - self.prefix.len()),
            None if self.is_command() => self.relieve_command(heard),
            None => self.relieve_text(known, self.rest.len() - margin, heard),
        }
    }

    /// Bytes that have to be known on either side of what is shown.
    fn margin(&self) -> usize {
        self.masks.as_ref().map_or(0, Masks::form_len_max).max(self.prefix.len()) + COLOURS_LEN_MAX
    }

    /// Whether the line is a command, whose end has to be waited for.
    fn is_command(&self) -> bool {
        let begins = || WorkflowCommand::read(&String::from_utf8_lossy(&self.rest[..LINE_LEN_MAX])).is_some();
        self.open == Open::Fresh && self.stopped.is_none() && begins()
    }

    fn relieve_command(&mut self, heard: &mut impl FnMut(Heard)) {
        if self.rest.len() > WORD_LEN_MAX {
            self.open = Open::Dropped;
            self.forget(self.rest.len() - self.prefix.len());
            self.refuse(&format!("A command has at most {WORD_LEN_MAX} bytes."), heard);
        }
    }

    fn relieve_mark(&mut self) {
        if self.rest.len() > WORD_LEN_MAX {
            self.open = Open::Dropped;
            self.rest.clear();
            // It may have named a secret, so that nothing can be shown any more.
            self.masks = None;
        }
    }

    /// Shows whole pieces of the text from `known` to `certain`.
    fn relieve_text(&mut self, known: usize, certain: usize, heard: &mut impl FnMut(Heard)) {
        let margin = self.margin();
        let mut at = last_state(&self.rest[..certain], known);
        while at + LINE_LEN_MAX <= certain {
            let end = character_at(&self.rest, at + LINE_LEN_MAX);
            self.show_part(&self.rest, at..end, heard);
            at = end;
        }
        let kept_from = at.saturating_sub(margin);
        self.forget(kept_from);
        self.open = Open::Shown(at - kept_from);
    }

    /// Shows the last of a line of which so many bytes are known.
    pub(super) fn show_end(&self, line: &[u8], known: usize, heard: &mut impl FnMut(Heard)) {
        let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
        let line = &line[..end];
        let mut at = last_state(line, known);
        while at < line.len() {
            let end = character_at(line, (at + LINE_LEN_MAX).min(line.len()));
            self.show_part(line, at..end, heard);
            at = end;
        }
    }

    fn show_part(&self, line: &[u8], part: Range<usize>, heard: &mut impl FnMut(Heard)) {
        let margin = self.margin();
        let from = part.start.saturating_sub(margin);
        let around = &line[from..line.len().min(part.end + margin)];
        let text = match &self.masks {
            Some(masks) => masks.hide_part(around, part.start - from..part.end - from),
            None => MASK.to_owned(),
        };
        heard(Heard::Line(self.hide(&shown(&text))));
    }

    fn forget(&mut self, len: usize) {
        drop(self.rest.drain(..len));
    }
}

/// Where the text begins that isn't written over: behind the last carriage return, as whoever shows lines has it.
fn last_state(line: &[u8], known: usize) -> usize {
    memrchr(b'\r', line).map_or(known, |at| known.max(at + 1))
}

/// Where the character begins that stands here.
fn character_at(text: &[u8], at: usize) -> usize {
    let begins = |at: &usize| text.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    (at.saturating_sub(3)..=at).rev().find(begins).unwrap_or(at)
}

/// The text in pieces that are no longer than a line may be. An empty text is one, too.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let end = character_at(text.as_bytes(), LINE_LEN_MAX.min(text.len()));
        let (piece, behind) = text.split_at(end);
        rest = Some(behind).filter(|behind| !behind.is_empty());
        Some(piece)
    })
}
