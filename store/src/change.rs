//! What a commit shall do, as data: the writer merges the changes of a group, and runs a change again when it must.

use sea_orm::{
    ActiveModelTrait, ActiveValue, DbBackend, EntityName, EntityTrait, IdenStatic, Iterable, QueryTrait, Statement,
    StatementBuilder, Value,
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

/// What one commit does: rows to insert and statements to run, in order, as one transaction.
///
/// Rows of the same table and columns are inserted together, with those of other changes too, and so possibly later
/// than they were added; never later than the next statement that names their table.
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
    /// What is written once there are keys.
    Sealed(Sealing),
}

/// One row to insert.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub table: &'static str,
    pub columns: Vec<&'static str>,
    pub values: Vec<Value>,
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
        let mut columns = Vec::new();
        let mut values = Vec::new();
        for column in <A::Entity as EntityTrait>::Column::iter() {
            if let ActiveValue::Set(value) | ActiveValue::Unchanged(value) = row.take(column) {
                columns.push(IdenStatic::as_str(&column));
                values.push(value);
            }
        }
        self.ops.push(Op::Insert(Row { table: A::Entity::default().table_name(), columns, values }));
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
                Op::Sealed(write) => steps.extend(write(keys)?.into_steps(backend, keys)?),
            }
        }
        Ok(steps)
    }
}

/// An [`Op`] that is ready to be sent, and sent again.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Insert(Row),
    Run { statement: Statement, expect: Expect },
}

impl Step {
    /// About how much memory the step takes while it waits.
    pub(crate) fn bytes(&self) -> usize {
        let (text, values) = match self {
            Self::Insert(row) => (0, row.values.as_slice()),
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
