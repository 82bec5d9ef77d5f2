//! Keys out of items, and out of what requests name items by.

use super::{Key, KeyAttribute, KeySchema, KeyType, KeyValue, PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX};
use crate::{
    databases::{AttributeValue, Item, key_empty, key_only, key_too_long, key_type_wrong},
    error::Result,
};

impl KeySchema {
    /// The key that `key` is: the attributes of the schema, and no other; 400 otherwise.
    pub fn key(&self, key: &Item) -> Result<Key> {
        if key.len() == self.attributes().count() { self.key_of(key) } else { Err(key_only(self)) }
    }

    /// The key of an item; 400 where it has none.
    pub fn key_of(&self, item: &Item) -> Result<Key> {
        let value = |attribute: &KeyAttribute| item.get(&attribute.name).ok_or_else(|| key_only(self));
        // Whether all are there is known before the first one is looked at.
        let partition = value(&self.partition)?;
        let sort = self.sort.as_ref().map(value).transpose()?;
        let partition = self.partition_value(partition)?;
        Ok(Key { partition, sort: sort.map(|sort| self.sort_value(sort)).transpose()?.flatten() })
    }

    /// The value of a partition key; 400 where it can't be one.
    pub fn partition_value(&self, value: &AttributeValue) -> Result<KeyValue> {
        self.partition.value(value, PARTITION_KEY_BYTES_MAX)
    }

    /// The value of a sort key, where the schema has one; 400 where it can't be one.
    pub fn sort_value(&self, value: &AttributeValue) -> Result<Option<KeyValue>> {
        self.sort.as_ref().map(|sort| sort.value(value, SORT_KEY_BYTES_MAX)).transpose()
    }

    /// The key that an item has in an index with this schema: none where it lacks an attribute. 400 where it has one that
    /// can't be a key's.
    pub fn index_key_of(&self, item: &Item) -> Result<Option<Key>> {
        // What can't be a key's is refused also where another attribute is missing.
        let value = |attribute: Option<&KeyAttribute>, bytes_max: usize| {
            let found = attribute.and_then(|attribute| Some((attribute, item.get(&attribute.name)?)));
            found.map(|(attribute, value)| attribute.value(value, bytes_max)).transpose()
        };
        let partition = value(Some(&self.partition), PARTITION_KEY_BYTES_MAX)?;
        let sort = value(self.sort.as_ref(), SORT_KEY_BYTES_MAX)?;
        let is_whole = sort.is_some() || self.sort.is_none();
        Ok(partition.filter(|_| is_whole).map(|partition| Key { partition, sort }))
    }
}

impl KeyAttribute {
    fn value(&self, value: &AttributeValue, bytes_max: usize) -> Result<KeyValue> {
        let (value, bytes) = match (self.key_type, value) {
            (KeyType::S, AttributeValue::String(text)) => (KeyValue::String(text.clone()), text.len()),
            (KeyType::B, AttributeValue::Binary(bytes)) => (KeyValue::Binary(bytes.clone()), bytes.len()),
            (KeyType::N, AttributeValue::Number(number)) => (KeyValue::Number(*number), number.size()),
            (wanted, _) => return Err(key_type_wrong(&self.name, wanted.noun())),
        };
        match bytes {
            0 => Err(key_empty(&self.name)),
            bytes if bytes > bytes_max => Err(key_too_long(&self.name, bytes_max)),
            _ => Ok(value),
        }
    }
}
