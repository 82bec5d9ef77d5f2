//! How far a copy is, for whoever watches it on a terminal.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// How often the line is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);
/// Characters of the bar.
const WIDTH: u64 = 30;

/// A line on standard error that grows; nothing where that is no terminal.
pub(super) struct Bar {
    what: &'static str,
    unit: &'static str,
    drawn_at: Option<Instant>,
    is_shown: bool,
    last: (u64, u64),
}

impl Bar {
    pub(super) fn new(what: &'static str, unit: &'static str) -> Self {
        Self { what, unit, drawn_at: None, is_shown: io::stderr().is_terminal(), last: (0, 0) }
    }

    /// Says that `done` of `total` is done.
    pub(super) fn show(&mut self, done: u64, total: u64) {
        self.last = (done, total);
        if self.is_shown && self.drawn_at.is_none_or(|drawn_at| drawn_at.elapsed() >= DRAW_EVERY) {
            self.drawn_at = Some(Instant::now());
            self.draw();
        }
    }

    /// Draws it a last time.
    pub(super) fn end(&self) {
        if self.is_shown {
            self.draw();
            // Nobody is left to tell when even that fails.
            let _ = writeln!(io::stderr());
        }
    }

    fn draw(&self) {
        let _ = write!(io::stderr(), "\r{}", line(self.what, self.unit, self.last));
        let _ = io::stderr().flush();
    }
}

fn line(what: &str, unit: &str, (done, total): (u64, u64)) -> String {
    let total = total.max(done);
    let share = |of: u64| of.saturating_mul(done).checked_div(total).unwrap_or(of);
    let full = usize::try_from(share(WIDTH)).unwrap_or(0);
    let empty = usize::try_from(WIDTH).unwrap_or(0).saturating_sub(full);
    format!("{what:<9} [{}{}] {:>3} %  {done}/{total} {unit}", "=".repeat(full), " ".repeat(empty), share(100))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_line_shows_the_share() {
        assert_eq!(line("blobs", "bytes", (0, 200)), format!("blobs     [{}]   0 %  0/200 bytes", " ".repeat(30)));
        assert_eq!(
            line("database", "pages", (1, 2)),
            format!("database  [{}{}]  50 %  1/2 pages", "=".repeat(15), " ".repeat(15))
        );
        assert_eq!(line("blobs", "bytes", (0, 0)), format!("blobs     [{}] 100 %  0/0 bytes", "=".repeat(30)));
    }
}
