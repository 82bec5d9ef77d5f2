//! What fuzzing has this package read: archives, and what clients of a co-edited page send. Built for tests, and with the feature
//! `fuzzing`.

#[cfg(test)]
#[path = "../../../fuzz/play.rs"]
mod play;

pub use crate::{
    archive::fuzzing::zip,
    session::fuzzing::{document, expect_panics, sync},
};

#[cfg(test)]
mod tests {
    use super::{play::play, *};

    #[test]
    fn archives_hold() {
        play("zip", zip);
    }

    #[test]
    fn documents_hold() {
        expect_panics();
        play("document", document);
    }

    #[test]
    fn messages_of_clients_hold() {
        play("sync", sync);
    }
}
