//! What a scenario reports.

use std::{collections::BTreeMap, error::Error};

use serde_json::json;

/// A measurement, or why there is none.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Figures and ratios of one run.
#[derive(Debug)]
pub struct Report {
    scenario: &'static str,
    figures: BTreeMap<String, f64>,
    ratios: BTreeMap<String, f64>,
}

impl Report {
    /// A report without figures yet.
    pub fn new(scenario: &'static str) -> Self {
        Self { scenario, figures: BTreeMap::new(), ratios: BTreeMap::new() }
    }

    /// Adds a figure; its name ends in its unit, such as `read_p99_ms`.
    pub fn figure(&mut self, name: impl Into<String>, value: f64) {
        self.figures.insert(name.into(), rounded(value));
    }

    /// Adds a ratio of a candidate to a baseline that was measured in the same run, such as `read_to_hello`.
    pub fn ratio(&mut self, name: impl Into<String>, value: f64) {
        self.ratios.insert(name.into(), rounded(value));
    }

    /// Prints the one line that programs read.
    pub fn print(&self) {
        println!("{}", json!({ "scenario": self.scenario, "figures": self.figures, "ratios": self.ratios }));
    }
}

/// Four significant digits; what is behind them is noise.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// The middle one of several measurements, or the mean of the two in the middle; 0 of none.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count if count % 2 == 1 => values[count / 2],
        count => f64::midpoint(values[count / 2 - 1], values[count / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 9.0]).to_bits(), 3.0_f64.to_bits());
        assert_eq!(median([3.0, 1.0, 9.0, 4.0]).to_bits(), 3.5_f64.to_bits());
        assert_eq!(median([]).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn figures_keep_four_digits() {
        assert_eq!(rounded(123_456.0).to_bits(), 123_500.0_f64.to_bits());
        assert_eq!(rounded(0.312_349).to_bits(), 0.3123_f64.to_bits());
    }
}
