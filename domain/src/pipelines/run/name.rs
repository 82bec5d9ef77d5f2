//! The names of jobs, as GitHub makes them.

use crate::pipelines::{
    expressions::{ExpressionFault, Part, Surroundings, Template, Value},
    workflow::Job,
};

/// Characters of a job's name, at most; a longer one is cut.
pub const JOB_NAME_LEN_MAX: usize = 255;
/// Characters of a name with the values of its matrix behind it, at most; a longer one ends in `...`.
pub const MATRIX_NAME_LEN_MAX: usize = 100;

/// The name of a job that isn't evaluated, because the job doesn't run.
pub(super) fn unevaluated(job: &Job) -> String {
    cut(&job.name.as_ref().map_or_else(|| job.key.as_str().to_owned(), Template::to_string))
}

/// The name of a job. One without expressions is followed by what of the matrix the job is for.
pub(super) fn evaluated(job: &Job, row: &Value, surroundings: &impl Surroundings) -> Result<String, ExpressionFault> {
    let key = job.key.as_str();
    let Some(template) = &job.name else { return Ok(with_row(key, row)) };
    let is_plain = template.parts().iter().all(|part| matches!(part, Part::Text(_)));
    let name = template.evaluate(surroundings)?.to_text().replace('\0', "");
    let name = if name.trim().is_empty() { key } else { name.trim() };
    Ok(if is_plain { with_row(name, row) } else { cut(name) })
}

fn with_row(name: &str, row: &Value) -> String {
    let mut values = Vec::new();
    leaves(row, &mut values);
    if values.is_empty() {
        return cut(name);
    }
    let name = format!("{name} ({})", values.join(", "));
    match name.char_indices().nth(MATRIX_NAME_LEN_MAX) {
        None => name,
        Some(_) => name.chars().take(MATRIX_NAME_LEN_MAX - 3).chain("...".chars()).collect(),
    }
}

/// Collects the texts of all values that are neither objects nor arrays, in their order, without empty ones.
fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(array) => array.items().iter().for_each(|item| leaves(item, found)),
        Value::Object(object) => object.entries().for_each(|(_, item)| leaves(item, found)),
        other => {
            let text = other.to_text().replace('\0', "");
            if !text.is_empty() {
                found.push(text);
            }
        }
    }
}

fn cut(name: &str) -> String {
    name.chars().take(JOB_NAME_LEN_MAX).collect()
}
