//! Made-up pages, the same in every run: words as often as in a language, which a few carry and most are rare in.

use std::io::{Cursor, Write};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use crate::report::Result;

/// Words that there are.
const WORDS: usize = 20_000;
/// How far the most frequent words are held down: a word's frequency goes with `1 / (rank + FLAT)`.
const FLAT: f64 = 10.0;
/// Words of a title, and of a text.
const TITLE_WORDS: usize = 4;
const TEXT_WORDS: usize = 100;
/// Pages of a folder, with the folder's own.
const FOLDER_PAGES: usize = 50;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word that a hundred pages have.
    Rare,
    /// A word that about one page of a hundred has.
    Medium,
    /// A word that about every fourth page has.
    Common,
    /// Two words of which each page of a hundred has one.
    Two,
    /// The first three letters of words.
    Beginning,
}

impl Kind {
    /// All, with what their figures are called.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Rare, "rare"),
        (Self::Medium, "medium"),
        (Self::Common, "common"),
        (Self::Two, "two_words"),
        (Self::Beginning, "beginning"),
    ];

    /// What is typed for the `number`th question of this kind.
    pub fn question(self, number: usize) -> String {
        match self {
            Self::Rare => word(15_000 + number),
            Self::Medium => word(1_000 + number),
            Self::Common => word(20 + number % 20),
            Self::Two => format!("{} {}", word(400 + number), word(500 + number)),
            Self::Beginning => word(2_000 + 7 * number)[..3].to_owned(),
        }
    }
}

/// Makes pages.
pub struct Author(u64);

impl Author {
    /// Always the same one.
    pub const fn new() -> Self {
        Self(0)
    }

    /// A ZIP of so many pages, as it is imported.
    pub fn archive(&mut self, pages: usize) -> Result<Vec<u8>> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let mut folder = String::new();
        for number in 0..pages {
            let title = self.words(TITLE_WORDS);
            let name = format!("{title} {number}");
            let path = if number % FOLDER_PAGES == 0 {
                folder.clone_from(&name);
                format!("{name}.md")
            } else {
                format!("{folder}/{name}.md")
            };
            archive.start_file(path, options)?;
            archive.write_all(self.words(TEXT_WORDS).as_bytes())?;
        }
        Ok(archive.finish()?.into_inner())
    }

    fn words(&mut self, count: usize) -> String {
        let words: Vec<_> = (0..count).map(|_| word(self.rank())).collect();
        words.join(" ")
    }

    /// A word's rank, the frequent ones more often.
    fn rank(&mut self) -> usize {
        #[expect(clippy::cast_precision_loss, reason = "20,000")]
        let words = WORDS as f64;
        let rank = FLAT * ((words + FLAT) / FLAT).powf(self.share()) - FLAT;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 20,000")]
        let rank = rank as usize;
        rank.min(WORDS - 1)
    }

    /// A number from 0 to 1 (`SplitMix64`).
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The word of this rank: three syllables.
fn word(rank: usize) -> String {
    const CONSONANTS: &[u8] = b"bdfghklmnprstvwz";
    const VOWELS: &[u8] = b"aeiou";
    let syllables = CONSONANTS.len() * VOWELS.len();
    // A factor without a common divisor spreads words of like ranks over the alphabet.
    let mut number = rank * 7_919 % syllables.pow(3);
    let mut word = String::with_capacity(6);
    for _ in 0..3 {
        let syllable = number % syllables;
        number /= syllables;
        word.push(char::from(CONSONANTS[syllable / VOWELS.len()]));
        word.push(char::from(VOWELS[syllable % VOWELS.len()]));
    }
    word
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_differ() {
        assert_eq!((0..WORDS).map(word).collect::<HashSet<_>>().len(), WORDS);
    }

    #[test]
    fn frequent_words_come_more_often_than_rare_ones() {
        let mut author = Author::new();
        let mut counts = vec![0_usize; WORDS];
        (0..1_000_000).for_each(|_| counts[author.rank()] += 1);
        let (first, thousandth): (usize, usize) = (counts[..100].iter().sum(), counts[1_000..1_100].iter().sum());
        assert!(first > 10 * thousandth, "{first} and {thousandth}");
        assert!(counts[WORDS - 100..].iter().sum::<usize>() > 0);
    }
}
