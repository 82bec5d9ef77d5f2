//! Labels: words that people hang on issues. The case of a label is kept, and two that differ in it only are one.

use super::limits::{LABEL_LEN_MAX, LABEL_SPACE, LABELS_MAX};
use crate::{Error, Result};

/// The labels of an issue as they are kept: each once, as it was first written.
pub fn labels(path: &str, asked: &[String]) -> Result<Vec<String>> {
    if asked.len() > LABELS_MAX {
        return Err(Error::invalid(path, format!("An issue can have {LABELS_MAX} labels.")));
    }
    let mut kept: Vec<String> = Vec::new();
    for (at, label) in asked.iter().enumerate() {
        let label = label.trim();
        let path = || format!("{path}.{at}");
        if label.chars().any(char::is_whitespace) {
            return Err(Error::invalid(path(), LABEL_SPACE));
        }
        if !(1..=LABEL_LEN_MAX).contains(&label.chars().count()) || label.chars().any(char::is_control) {
            return Err(Error::invalid(path(), format!("A label has 1 to {LABEL_LEN_MAX} characters.")));
        }
        if !kept.iter().any(|known| folded(known) == folded(label)) {
            kept.push(label.to_owned());
        }
    }
    Ok(kept)
}

/// A label as labels are compared.
pub fn folded(label: &str) -> String {
    label.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(asked: &[&str]) -> Result<Vec<String>> {
        labels("labels", &asked.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn labels_are_words_and_each_stands_once() {
        assert_eq!(kept(&[" Urgent ", "urgent", "É", "é", "x"]).expect("labels"), ["Urgent", "É", "x"]);
        for wrong in ["", "a b", "a\u{a0}b", "a\u{1}"] {
            assert!(kept(&[wrong]).is_err(), "{wrong}");
        }
        let long = |len| "é".repeat(len);
        assert!(kept(&[&long(63)]).is_ok() && kept(&[&long(64)]).is_ok() && kept(&[&long(65)]).is_err());
        let many = |len: usize| (0..len).map(|at| at.to_string()).collect::<Vec<_>>();
        assert!(labels("labels", &many(29)).is_ok() && labels("labels", &many(30)).is_ok());
        assert!(labels("labels", &many(31)).is_err());
    }
}
