//! What fuzzing has this package read: requests, bodies, heads of frames. Built for tests, and with the feature
//! `fuzzing`.

mod bodies;
#[cfg(test)]
#[path = "../../../fuzz/play.rs"]
mod play;
mod requests;

pub use http_shell::fuzzing::frames;

pub use self::{bodies::bodies, requests::requests};

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
