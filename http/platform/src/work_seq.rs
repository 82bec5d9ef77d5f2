//! Numbers of the work queue's entries, as they stand in paths.

use std::marker::PhantomData;

use http_shell::path::PathParameter;

/// What the path says of entries of one sort.
pub(crate) trait NumberedWork {
    /// The parameter's name between the braces of the path.
    const NAME: &'static str;
    /// What the number names.
    const DESCRIPTION: &'static str;
    /// The message of the 404 for a number that names none.
    const NOT_FOUND: &'static str;
}

/// The number of an entry of the sort `W`.
pub(crate) struct WorkSeq<W> {
    number: i64,
    sort: PhantomData<W>,
}

impl<W> WorkSeq<W> {
    /// The number.
    pub(super) const fn number(&self) -> i64 {
        self.number
    }
}

impl<W: NumberedWork> PathParameter for WorkSeq<W> {
    const NAME: &'static str = W::NAME;
    const DESCRIPTION: &'static str = W::DESCRIPTION;
    const EXAMPLE: &'static str = "17";
    const NOT_FOUND: &'static str = W::NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(|number| Self { number, sort: PhantomData })
    }
}
