//! Sizes as DynamoDB counts them ("Item sizes and formats"), without the name of the attribute.

use super::AttributeValue;

/// Bytes that a list or map counts for beside what is in it.
const COLLECTION_BYTES: usize = 3;
/// Bytes that each entry of a list or map counts for beside itself.
const ENTRY_BYTES: usize = 1;

impl AttributeValue {
    /// Bytes of the value.
    pub fn size(&self) -> usize {
        match self {
            Self::String(text) => text.len(),
            Self::Number(number) => number.size(),
            Self::Binary(bytes) => bytes.len(),
            Self::Bool(_) | Self::Null => 1,
            Self::Map(attributes) => {
                let entry = |(name, value): (&String, &Self)| ENTRY_BYTES + name.len() + value.size();
                COLLECTION_BYTES + attributes.iter().map(entry).sum::<usize>()
            }
            Self::List(entries) => {
                COLLECTION_BYTES + entries.iter().map(|entry| ENTRY_BYTES + entry.size()).sum::<usize>()
            }
            Self::StringSet(entries) => entries.iter().map(String::len).sum(),
            Self::NumberSet(entries) => entries.iter().map(|number| number.size()).sum(),
            Self::BinarySet(entries) => entries.iter().map(Vec::len).sum(),
        }
    }
}
