//! What fuzzing has this package read: configurations, what the command line reads, and what jobs print. Built for tests, and with the feature `fuzzing`.

#[cfg(test)]
#[path = "../fuzz/play.rs"]
mod play;

/// A configuration file, and environment variables.
pub fn configuration(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        crate::config::fuzzing(text);
    }
}

/// What git asks of its credential helper, what is kept on somebody's machine, and addresses that they type.
pub fn questions(bytes: &[u8]) {
    crate::client::fuzzing(bytes);
}

/// What a job prints, as its runner hears it.
pub fn printed(bytes: &[u8]) {
    crate::runner::printed(bytes);
}

#[cfg(test)]
mod tests {
    use super::{play::play, *};

    #[test]
    fn configurations_hold() {
        play("configuration", configuration);
    }

    #[test]
    fn what_jobs_print_holds() {
        play("printed", printed);
    }

    #[test]
    fn questions_hold() {
        play("questions", questions);
    }
}
