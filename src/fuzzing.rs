//! What fuzzing has this package read: configurations. Built for tests, and with the feature `fuzzing`.

#[cfg(test)]
#[path = "../fuzz/play.rs"]
mod play;

/// A configuration file, and environment variables.
pub fn configuration(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        crate::config::fuzzing(text);
    }
}

#[cfg(test)]
mod tests {
    use super::{play::play, *};

    #[test]
    fn configurations_hold() {
        play("configuration", configuration);
    }
}
