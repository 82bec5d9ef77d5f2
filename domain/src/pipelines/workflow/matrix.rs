//! The jobs that a matrix stands for.

use std::sync::Arc;

use crate::pipelines::expressions::{ExpressionFault, FaultKind, Object, Surroundings, Template, Value};

/// Jobs of a matrix, at most.
pub const MATRIX_JOBS_MAX: usize = 256;

/// A matrix as the file has it: a tree with expressions in it.
#[derive(Clone, Debug, PartialEq)]
pub enum MatrixTree {
    /// A text, or what an expression gives.
    Leaf(Template),
    /// What stands in the file and is no text.
    Given(Scalar),
    /// Values in a row.
    Sequence(Vec<Self>),
    /// Values by name.
    Mapping(Vec<(Arc<str>, Self)>),
}

/// A value of a file that is no text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Nothing.
    Null,
    /// A boolean.
    Boolean(bool),
    /// A number.
    Number(f64),
}

/// Why a matrix stands for no jobs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatrixFault {
    /// An expression fails.
    #[error("{0}")]
    Expression(#[from] ExpressionFault),
    /// It is no object of arrays.
    #[error("A matrix is an object, whose values are arrays; include and exclude are arrays of objects")]
    Shape,
    /// It stands for too many.
    #[error("A matrix stands for at most {MATRIX_JOBS_MAX} jobs")]
    TooMany,
    /// It stands for none.
    #[error("A matrix must define at least one vector")]
    Empty,
}

/// What each job of a matrix is for: the value of its `matrix`.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// One object for each job, in order.
    pub rows: Vec<Value>,
}

type Row = Vec<(Arc<str>, Value)>;

impl MatrixTree {
    /// The tree's value.
    pub fn evaluate(&self, surroundings: &impl Surroundings) -> Result<Value, ExpressionFault> {
        Ok(match self {
            Self::Leaf(template) => template.evaluate(surroundings)?,
            Self::Given(Scalar::Null) => Value::Null,
            Self::Given(Scalar::Boolean(value)) => Value::Boolean(*value),
            Self::Given(Scalar::Number(value)) => Value::Number(*value),
            Self::Sequence(items) => {
                Value::array(items.iter().map(|it| it.evaluate(surroundings)).collect::<Result<Vec<_>, _>>()?)
            }
            Self::Mapping(entries) => {
                let value = |(name, it): &(Arc<str>, Self)| Ok((Arc::clone(name), it.evaluate(surroundings)?));
                Value::object(entries.iter().map(value).collect::<Result<Vec<_>, ExpressionFault>>()?)
            }
        })
    }

    /// How many jobs the vectors stand for, where no expression has a part in that.
    pub(super) fn jobs(&self) -> Option<usize> {
        let Self::Mapping(entries) = self else { return None };
        entries.iter().filter(|(name, _)| !is_special(name)).try_fold(1_usize, |jobs, (_, vector)| match vector {
            Self::Sequence(items) => Some(jobs.saturating_mul(items.len())),
            _ => None,
        })
    }
}

impl Matrix {
    /// The jobs that a matrix's value stands for. They are counted before any of them is made.
    pub fn expand(value: &Value) -> Result<Self, MatrixFault> {
        let Value::Object(matrix) = value else { return Err(MatrixFault::Shape) };
        let mut vectors = Vec::new();
        for (name, values) in matrix.entries().filter(|(name, _)| !is_special(name)) {
            vectors.push((name, items(values).filter(|items| !items.is_empty()).ok_or(MatrixFault::Shape)?));
        }
        let jobs = vectors.iter().fold(1_usize, |jobs, (_, values)| jobs.saturating_mul(values.len()));
        let (include, exclude) = (objects(matrix, "include")?, objects(matrix, "exclude")?);
        if vectors.is_empty() && include.is_empty() {
            return Err(MatrixFault::Empty);
        }
        if jobs > MATRIX_JOBS_MAX {
            return Err(MatrixFault::TooMany);
        }
        let mut rows = if vectors.is_empty() { Vec::new() } else { product(&vectors) };
        rows.retain(|row| !exclude.iter().any(|excluded| agrees(excluded, row)));
        let originals = rows.clone();
        for included in &include {
            include_row(included, &originals, &mut rows);
        }
        if rows.len() > MATRIX_JOBS_MAX {
            return Err(MatrixFault::TooMany);
        }
        Ok(Self { rows: rows.into_iter().map(Value::object).collect() })
    }
}

fn is_special(name: &str) -> bool {
    name.eq_ignore_ascii_case("include") || name.eq_ignore_ascii_case("exclude")
}

fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(array) => Some(array.items()),
        _ => None,
    }
}

fn objects<'a>(matrix: &'a Object, name: &str) -> Result<Vec<&'a Object>, MatrixFault> {
    let Some(value) = matrix.get(name).filter(|value| !matches!(value, Value::Null)) else { return Ok(Vec::new()) };
    let rows = items(value).ok_or(MatrixFault::Shape)?.iter().map(|item| match item {
        Value::Object(object) => Ok(&**object),
        _ => Err(MatrixFault::Shape),
    });
    rows.collect()
}

/// Each value with each; the last vector changes fastest.
fn product(vectors: &[(&Arc<str>, &[Value])]) -> Vec<Row> {
    vectors.iter().fold(vec![Vec::new()], |rows, (name, values)| {
        let with = |row: &Row, value: &Value| {
            let mut row = row.clone();
            row.push((Arc::clone(name), value.clone()));
            row
        };
        rows.iter().flat_map(|row| values.iter().map(move |value| with(row, value))).collect()
    })
}

fn of<'a>(row: &'a Row, name: &str) -> Option<&'a Value> {
    row.iter().find(|(it, _)| it.to_lowercase() == name.to_lowercase()).map(|(_, value)| value)
}

/// Whether all that is excluded is what the row has.
fn agrees(excluded: &Object, row: &Row) -> bool {
    excluded.entries().all(|(name, value)| of(row, name).is_some_and(|it| is_like(it, value)))
}

/// Adds to each row of the vectors whose own values stay as they are; is a row of its own where there is none.
fn include_row(included: &Object, originals: &[Row], rows: &mut Vec<Row>) {
    let mut is_added = false;
    for (at, original) in originals.iter().enumerate() {
        let overwrites = |(name, value): (&Arc<str>, &Value)| of(original, name).is_some_and(|it| !is_like(it, value));
        if included.entries().any(overwrites) {
            continue;
        }
        is_added = true;
        for (name, value) in included.entries() {
            match rows[at].iter_mut().find(|(it, _)| it.to_lowercase() == name.to_lowercase()) {
                Some((_, there)) => *there = value.clone(),
                None => rows[at].push((Arc::clone(name), value.clone())),
            }
        }
    }
    if !is_added {
        rows.push(included.entries().map(|(name, value)| (Arc::clone(name), value.clone())).collect());
    }
}

/// Whether two values say the same, all through.
fn is_like(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            let (one, other) = (one.items(), other.items());
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_like(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let same = |(name, value): (&Arc<str>, &Value)| other.get(name).is_some_and(|it| is_like(value, it));
            one.entries().len() == other.entries().len() && one.entries().all(same)
        }
        _ => {
            one.is_primitive() && other.is_primitive() && one.kind() == other.kind() && one.to_text() == other.to_text()
        }
    }
}

impl From<FaultKind> for MatrixFault {
    fn from(kind: FaultKind) -> Self {
        Self::Expression(ExpressionFault { kind, position: 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(json: &str) -> Result<Vec<String>, MatrixFault> {
        let text = |row: &Value| row.print_json().unwrap().replace(['\n', ' ', '"', '{', '}'], "");
        Ok(Matrix::expand(&Value::read_json(json)?)?.rows.iter().map(text).collect())
    }

    #[test]
    fn each_value_meets_each() {
        let found = rows(r#"{"os": ["l", "w"], "n": [1, 2]}"#).unwrap();
        assert_eq!(found, ["os:l,n:1", "os:l,n:2", "os:w,n:1", "os:w,n:2"]);
        let found = rows(r#"{"os": ["l", "w"], "n": [1, 2], "exclude": [{"os": "w", "n": 2}, {"N": 1, "OS": "l"}]}"#);
        assert_eq!(found.unwrap(), ["os:l,n:2", "os:w,n:1"]);
    }

    #[test]
    fn what_is_included_adds_without_overwriting() {
        let found = rows(
            r#"{"fruit": ["apple", "pear"], "animal": ["cat", "dog"], "include": [{"color": "green"},
                {"color": "pink", "animal": "cat"}, {"fruit": "apple", "shape": "circle"}, {"fruit": "banana"},
                {"fruit": "banana", "animal": "cat"}]}"#,
        );
        assert_eq!(
            found.unwrap(),
            [
                "fruit:apple,animal:cat,color:pink,shape:circle",
                "fruit:apple,animal:dog,color:green,shape:circle",
                "fruit:pear,animal:cat,color:pink",
                "fruit:pear,animal:dog,color:green",
                "fruit:banana",
                "fruit:banana,animal:cat",
            ]
        );
        assert_eq!(rows(r#"{"include": [{"a": 1}, {"a": 2}]}"#).unwrap(), ["a:1", "a:2"]);
    }

    #[test]
    fn a_matrix_is_counted_before_it_is_made() {
        let vector = |len: usize| format!("[{}]", vec!["1"; len].join(","));
        assert_eq!(rows(&format!(r#"{{"a": {}, "b": {}}}"#, vector(16), vector(16))).unwrap().len(), MATRIX_JOBS_MAX);
        assert_eq!(rows(&format!(r#"{{"a": {}}}"#, vector(257))), Err(MatrixFault::TooMany));
        let wide: Vec<String> = (0..50).map(|at| format!(r#""k{at}": {}"#, vector(1_000))).collect();
        assert_eq!(rows(&format!("{{{}}}", wide.join(","))), Err(MatrixFault::TooMany));
        let rows_more = format!(r#"{{"a": {}, "include": [{{"a": 7}}]}}"#, vector(256));
        assert_eq!(rows(&rows_more), Err(MatrixFault::TooMany));
        for bad in
            ["1", "{}", r#"{"a": 1}"#, r#"{"a": []}"#, r#"{"a": [1], "include": 1}"#, r#"{"a": [1], "exclude": [1]}"#]
        {
            assert!(rows(bad).is_err(), "{bad}");
        }
    }
}
