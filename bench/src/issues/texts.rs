//! Made-up issues, the same in every run but for their days, which count back from today.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::issues::jql::meaning::numbered_day;

use crate::report::Result;

/// Words that there are, the most frequent first.
const WORDS: u64 = 20_000;
/// Words of a summary, and of a description.
const SUMMARY_WORDS: u64 = 4;
const DESCRIPTION_WORDS: u64 = 50;
/// Labels that there are, and that an issue has.
const LABELS: u64 = 500;
const LABELS_EACH: usize = 3;
/// One of so many issues is the reader's.
const PEOPLE: u64 = 300;
/// Days over which the issues were made.
const DAYS: u64 = 365;
const DAY_SECONDS: u64 = 86_400;

const TYPES: [&str; 3] = ["Task", "Story", "Bug"];
const STATUSES: [&str; 3] = ["To do", "In progress", "Done"];
const PRIORITIES: [&str; 5] = ["Highest", "High", "Medium", "Low", "Lowest"];
const HEADERS: &str = "Summary,Issue Type,Status,Priority,Assignee,Labels,Labels,Labels,Due date,Story Points,Created,Updated,\
                       Description";

/// The word of a rank, in letters that no index changes.
pub fn word(rank: u64) -> String {
    const CONSONANTS: &[u8; 16] = b"bdfghjklmnprtvwz";
    const VOWELS: &[u8; 4] = b"aiou";
    let (mut text, mut left) = (String::new(), rank);
    for _ in 0..3 {
        let syllable = left % 64;
        left /= 64;
        let (consonant, vowel) = (CONSONANTS[usize_of(syllable / 4)], VOWELS[usize_of(syllable % 4)]);
        text.extend([char::from(consonant), char::from(vowel)]);
    }
    text.push('k');
    text
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).unwrap_or_default()
}

/// Makes issues.
pub struct Author {
    state: u64,
    /// Today's number since 1970.
    today: u64,
    /// Whose some issues are.
    reader: String,
}

impl Author {
    pub fn new(reader: &str) -> Result<Self> {
        let today = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() / DAY_SECONDS;
        Ok(Self { state: 0x9e37_79b9_7f4a_7c15, today, reader: reader.to_owned() })
    }

    /// A number below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % bound
    }

    /// A word, more often one of a low rank.
    fn word(&mut self) -> String {
        let even = self.below(1_000_000) + 1;
        let cube = even * even / 1_000_000 * even / 1_000_000;
        word(cube * WORDS / 1_000_001)
    }

    fn words(&mut self, count: u64) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    fn day(&self, back: u64) -> Result<String> {
        let number = i64::try_from(self.today.saturating_sub(back))?;
        Ok(numbered_day(number).ok_or("a day without a date")?.to_string())
    }

    /// A file of so many issues.
    pub fn file(&mut self, issues: usize) -> Result<String> {
        let mut lines = vec![HEADERS.to_owned()];
        for _ in 0..issues {
            lines.push(self.row()?);
        }
        Ok(lines.join("\n") + "\n")
    }

    fn row(&mut self) -> Result<String> {
        let back = self.below(DAYS);
        let (created, updated) = (self.day(back)?, self.day(back / 2)?);
        let ahead = self.below(60);
        let mut cells = vec![self.words(SUMMARY_WORDS)];
        for choice in [&TYPES[..], &STATUSES[..], &PRIORITIES[..]] {
            cells.push(choice[usize_of(self.below(choice.len() as u64))].to_owned());
        }
        cells.push(if self.below(PEOPLE) == 0 { self.reader.clone() } else { String::new() });
        for _ in 0..LABELS_EACH {
            cells.push(label(self.below(LABELS)));
        }
        cells.push(self.day(ahead)?);
        cells.push((1 + self.below(13)).to_string());
        cells.extend([created, updated, self.words(DESCRIPTION_WORDS)]);
        Ok(cells.join(","))
    }
}

/// The label of a number.
pub fn label(number: u64) -> String {
    format!("label-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_differ_and_files_have_a_row_for_each_issue() {
        let all: std::collections::BTreeSet<_> = (0..WORDS).map(word).collect();
        assert_eq!(all.len() as u64, WORDS);
        let file = Author::new("ada@example.com").unwrap().file(20).unwrap();
        assert_eq!(file.lines().count(), 21);
        assert!(file.lines().all(|line| line.split(',').count() == HEADERS.split(',').count()));
    }
}
