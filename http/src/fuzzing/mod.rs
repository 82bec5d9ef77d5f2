//! What fuzzing has this package read: requests, bodies, heads of frames. Built for tests, and with the feature
//! `fuzzing`.

mod bodies;
#[cfg(test)]
#[path = "../../../fuzz/play.rs"]
mod play;
mod requests;

pub use self::{bodies::bodies, requests::requests};
use crate::socket;

/// See there.
pub fn frames(bytes: &[u8]) {
    socket::frames::fuzzing(bytes);
}

#[cfg(test)]
mod tests {
    use super::{play::play, *};

    #[test]
    fn bodies_hold() {
        play("bodies", bodies);
    }

    #[test]
    fn frames_hold() {
        play("frames", frames);
    }

    #[test]
    fn requests_hold() {
        play("requests", requests);
    }
}
