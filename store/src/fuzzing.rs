//! What fuzzing has this package read: signed addresses of blobs. Built for tests, and with the feature `fuzzing`.

#[cfg(test)]
#[path = "../../fuzz/play.rs"]
mod play;

pub use crate::blobs::fuzzing::addresses;

#[cfg(test)]
mod tests {
    use super::{play::play, *};

    #[test]
    fn addresses_hold() {
        play("addresses", addresses);
    }
}
