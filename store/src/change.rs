//! What a commit shall do, as data: the writer merges the changes of a group, and runs a change again when it must.

use sea_orm::{
    ActiveModelTrait, ActiveValue, DbBackend, EntityName, EntityTrait, IdenStatic, Iterable, PrimaryKeyToColumn,
    QueryTrait, Statement, StatementBuilder, Value,
};

use crate::{SecretKeys, secrets::SecretError};

/// How many rows a statement must meet for the change to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Any number, none included.
    Any,
    /// Exactly so many; another number makes the commit fail with [`CommitError::Stale`](crate::CommitError::Stale).
    Rows(u64),
}

/// A statement that says of a row, found by its primary key, what it says of many at once: the writer joins those of a
/// group.
///
/// A list of rows has columns `column1`, `column2`, … on both databases.
#[derive(Debug)]
pub(crate) struct RowStatement {
    /// The tables that it names. The first is the one whose rows it writes; of others, it only reads.
    pub tables: &'static [&'static str],
    /// The statement, in which [`ROWS`] stands for the rows.
    pub text: &'static str,
    pub form: Form,
    /// How many of the first values are the primary key of what it writes.
    pub key: usize,
    /// What each row must meet; another number makes the commit stale.
    pub expect: Expect,
}

/// Stands in the text of a [`RowStatement`] for its rows.
pub(crate) const ROWS: &str = "/*rows*/";

/// How the rows of a [`RowStatement`] stand in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As `VALUES (…), (…)`.
    Listed,
    /// The same. From this value on, those of one key are added up, as long as the values before are equal.
    Summed(usize),
    /// As conditions on these columns, any of which may hold. (SQLite finds rows of a list by their key to update them, not to
    /// delete them.)
    Matching(&'static [&'static str]),
}

/// What one commit does: rows to insert and statements to run, in order, as one transaction.
///
/// Rows of the same table and columns are inserted together, with those of other changes too, and so possibly later
/// than they were added; never later than the next statement that names their table. What a [`RowStatement`] says of rows
/// is joined with what others say of other rows in the same way.
#[derive(Default)]
pub struct Change {
    ops: Vec<Op>,
    wakes: Wakes,
}

/// Whom a commit wakes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wakes {
    pub timers: bool,
    /// Topics of the work queue.
    pub topics: Vec<&'static str>,
}

/// Writes what it seals with the keys.
type Sealing = Box<dyn FnOnce(&SecretKeys) -> Result<Change, SecretError> + Send>;

pub(crate) enum Op {
    Insert(Row),
    Run {
        statement: Box<dyn StatementBuilder + Send>,
        expect: Expect,
    },
    /// What a statement says of one row.
    Row {
        statement: &'static RowStatement,
        values: Vec<Value>,
    },
    /// What is written once there are keys.
    Sealed(Sealing),
    /// What follows is a change of its own, which is committed together with those before it.
    Next,
}

/// One row to insert.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub table: &'static str,
    pub columns: Vec<&'static str>,
    pub values: Vec<Value>,
    /// Its primary key, where the change says it.
    pub key: Option<RowName>,
}

/// The primary key of a row, as [`name_of`] writes it.
pub(crate) type RowName = Vec<u8>;

/// Writes the values of a primary key so that other values are other bytes, whatever type of number they come as; nothing
/// where they can't be those of a key.
pub(crate) fn name_of<'v>(key: impl IntoIterator<Item = &'v Value>) -> Option<RowName> {
    let mut name = Vec::new();
    let mut put = |kind: u8, bytes: &[u8]| {
        name.push(kind);
        name.extend_from_slice(&bytes.len().to_be_bytes());
        name.extend_from_slice(bytes);
    };
    for value in key {
        match value {
            Value::BigInt(Some(number)) => put(0, &number.to_be_bytes()),
            Value::Int(Some(number)) => put(0, &i64::from(*number).to_be_bytes()),
            Value::String(Some(text)) => put(1, text.as_bytes()),
            Value::Bytes(Some(bytes)) => put(2, bytes),
            _ => return None,
        }
    }
    Some(name)
}

impl Change {
    /// A change that does nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// Does what `other` does, after what this one does.
    pub fn append(&mut self, mut other: Self) {
        self.ops.append(&mut other.ops);
        self.wakes.timers |= other.wakes.timers;
        for topic in other.wakes.topics {
            self.wakes_work(topic);
        }
    }

    /// Does what `other` does too, behind this, as a change of its own would.
    pub fn append_behind(&mut self, other: Self) {
        if !self.ops.is_empty() && !other.ops.is_empty() {
            self.ops.push(Op::Next);
        }
        self.append(other);
    }

    /// About how much it says: rows and statements, and bytes of rows.
    pub fn extent(&self) -> (usize, usize) {
        let bytes = self.ops.iter().map(|op| match op {
            Op::Insert(row) => row.values.iter().map(value_bytes).sum(),
            Op::Row { values, .. } => values.iter().map(value_bytes).sum::<usize>(),
            Op::Run { .. } | Op::Sealed(_) | Op::Next => 0,
        });
        (self.ops.len(), bytes.sum())
    }

    /// Has [`Store::timers_changed`](crate::Store::timers_changed) told of the commit.
    pub(crate) fn wakes_timers(&mut self) {
        self.wakes.timers = true;
    }

    /// Has [`Store::work_changed`](crate::Store::work_changed) of `topic` told of the commit.
    pub(crate) fn wakes_work(&mut self, topic: &'static str) {
        if !self.wakes.topics.contains(&topic) {
            self.wakes.topics.push(topic);
        }
    }

    /// Whom the commit wakes.
    pub(crate) fn wakes(&self) -> Wakes {
        self.wakes.clone()
    }

    /// Inserts `row`; columns that are not set take the database's defaults.
    pub(crate) fn insert<A: ActiveModelTrait>(&mut self, mut row: A) {
        let key: Option<Vec<Value>> = <A::Entity as EntityTrait>::PrimaryKey::iter()
            .map(|key| match row.get(key.into_column()) {
                ActiveValue::Set(value) | ActiveValue::Unchanged(value) => Some(value),
                ActiveValue::NotSet => None,
            })
            .collect();
        let key = key.and_then(|key| name_of(&key));
        let mut columns = Vec::new();
        let mut values = Vec::new();
        for column in <A::Entity as EntityTrait>::Column::iter() {
            if let ActiveValue::Set(value) | ActiveValue::Unchanged(value) = row.take(column) {
                columns.push(IdenStatic::as_str(&column));
                values.push(value);
            }
        }
        self.ops.push(Op::Insert(Row { table: A::Entity::default().table_name(), columns, values, key }));
    }

    /// Says of a row what `statement` says of rows.
    pub(crate) fn row(&mut self, statement: &'static RowStatement, values: impl IntoIterator<Item = Value>) {
        self.ops.push(Op::Row { statement, values: values.into_iter().collect() });
    }

    /// Runs a query of SeaORM's (`Entity::update_many()…`, `Entity::delete_many()…`, `Entity::insert(…).on_conflict(…)`).
    pub(crate) fn run<Q>(&mut self, query: Q, expect: Expect)
    where
        Q: QueryTrait,
        Q::QueryStatement: Send + 'static,
    {
        self.run_statement(query.into_query(), expect);
    }

    /// Runs a statement of sea-query's.
    pub(crate) fn run_statement(&mut self, statement: impl StatementBuilder + Send + 'static, expect: Expect) {
        self.ops.push(Op::Run { statement: Box::new(statement), expect });
    }

    /// Has `write` add what it seals, at this place of the change, when it is committed. Wakes nobody.
    pub(crate) fn sealed(
        &mut self,
        write: impl FnOnce(&SecretKeys, &mut Self) -> Result<(), SecretError> + Send + 'static,
    ) {
        self.ops.push(Op::Sealed(Box::new(move |keys: &SecretKeys| {
            let mut change = Self::new();
            write(keys, &mut change)?;
            Ok(change)
        })));
    }

    /// The steps in `backend`'s own language, ready to be sent; secrets are sealed with `keys`.
    pub(crate) fn into_steps(self, backend: DbBackend, keys: &SecretKeys) -> Result<Vec<Step>, SecretError> {
        let mut steps = Vec::with_capacity(self.ops.len());
        for op in self.ops {
            match op {
                Op::Insert(row) => steps.push(Step::Insert(row)),
                Op::Run { statement, expect } => steps.push(Step::Run { statement: statement.build(&backend), expect }),
                Op::Row { statement, values } => {
                    let key = name_of(&values[..statement.key]);
                    steps.push(Step::Row { statement, key, values });
                }
                Op::Sealed(write) => steps.extend(write(keys)?.into_steps(backend, keys)?),
                Op::Next => steps.push(Step::Next),
            }
        }
        Ok(steps)
    }
}

/// An [`Op`] that is ready to be sent, and sent again.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Insert(Row),
    Row {
        statement: &'static RowStatement,
        key: Option<RowName>,
        values: Vec<Value>,
    },
    Run {
        statement: Statement,
        expect: Expect,
    },
    /// What follows is a change of its own.
    Next,
}

impl Step {
    /// About how much memory the step takes while it waits.
    pub(crate) fn bytes(&self) -> usize {
        let (text, values) = match self {
            Self::Insert(row) => (0, row.values.as_slice()),
            Self::Row { values, .. } => (0, values.as_slice()),
            Self::Next => (0, &[][..]),
            Self::Run { statement, .. } => {
                (statement.sql.len(), statement.values.as_ref().map_or(&[][..], |values| &values.0))
            }
        };
        text + values.iter().map(value_bytes).sum::<usize>()
    }
}

fn value_bytes(value: &Value) -> usize {
    let beside = match value {
        Value::String(Some(text)) => text.len(),
        Value::Bytes(Some(bytes)) => bytes.len(),
        _ => 0,
    };
    size_of::<Value>() + beside
}

impl std::fmt::Debug for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Change").field("ops", &self.ops.len()).finish_non_exhaustive()
    }
}
