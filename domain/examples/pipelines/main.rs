//! What this package makes of expressions and workflow files, for whoever compares that with what others make of them (`.ci/pipelines/run`).
//!
//! `pipelines expressions` reads lines of JSON `{expression, contexts}` and writes a line for each: `{kind, text}`, or
//! `{error, position}`. `pipelines workflows` reads lines of JSON, each the text of a file, and writes the file's problems.
//! `pipelines schedules` reads lines of JSON `{cron, timezone?, after, count}` and writes the times that follow, in seconds.
//! `contexts` is a text of JSON, so that numbers and the order of names come through as they are.

use std::{
    env,
    io::{self, BufRead, Write},
    process::ExitCode,
    sync::Arc,
};

use serde::Deserialize;
use serde_json::{Value as Json, json};
use troupe_domain::{
    Timestamp,
    pipelines::{
        expressions::{ContextName, Expression, Function, SpecialFunction, Surroundings, Value, Vocabulary},
        workflow::{Schedule, ScheduleTimes, Severity, WorkflowFile, WorkflowProblem},
    },
};

/// Every context, and the functions of a step.
const EVERYTHING: Vocabulary = Vocabulary {
    contexts: &ContextName::ALL,
    functions: &[
        SpecialFunction { function: Function::Success, arguments_min: 0, arguments_max: 0 },
        SpecialFunction { function: Function::Failure, arguments_min: 0, arguments_max: usize::MAX },
        SpecialFunction { function: Function::Always, arguments_min: 0, arguments_max: 0 },
        SpecialFunction { function: Function::Cancelled, arguments_min: 0, arguments_max: 0 },
        SpecialFunction { function: Function::HashFiles, arguments_min: 1, arguments_max: 255 },
    ],
};

fn main() -> ExitCode {
    let answer: fn(&str) -> Json = match env::args().nth(1).as_deref() {
        Some("expressions") => expression,
        Some("workflows") => workflow,
        Some("schedules") => schedule,
        _ => {
            eprintln!("pipelines expressions|workflows|schedules");
            return ExitCode::FAILURE;
        }
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line.expect("a line of UTF-8");
        writeln!(out, "{}", answer(&line)).expect("somebody reads");
    }
    ExitCode::SUCCESS
}

/// An expression, and the values of its contexts.
#[derive(Deserialize)]
struct Asked {
    expression: String,
    contexts: String,
}

fn expression(line: &str) -> Json {
    let asked: Asked = serde_json::from_str(line).expect("an expression and its contexts");
    let contexts = Contexts(Value::read_json(&asked.contexts).expect("contexts in JSON"));
    match Expression::parse(&asked.expression, &EVERYTHING).and_then(|it| it.evaluate(&contexts)) {
        Ok(value) if value.is_primitive() => json!({"kind": value.kind(), "text": &*value.to_text()}),
        Ok(value) => json!({"kind": value.kind(), "text": value.print_json().expect("few values")}),
        Err(fault) => json!({"error": fault.kind.to_string(), "position": fault.position}),
    }
}

fn workflow(line: &str) -> Json {
    let text: String = serde_json::from_str(line).expect("the text of a file");
    let problem = |it: &WorkflowProblem| {
        let is_error = it.severity == Severity::Error;
        json!({"message": it.message, "line": it.line, "column": it.column, "error": is_error})
    };
    WorkflowFile::read(&text).problems.iter().map(problem).collect()
}

/// A schedule, and how many times behind which second are asked for.
#[derive(Deserialize)]
struct Times {
    cron: String,
    timezone: Option<String>,
    after: i64,
    count: usize,
}

fn schedule(line: &str) -> Json {
    let asked: Times = serde_json::from_str(line).expect("a schedule, a time and a count");
    let schedule = Schedule { cron: asked.cron, timezone: asked.timezone };
    let times = ScheduleTimes::of(&schedule).expect("a schedule that means something");
    let mut last = Timestamp(asked.after * 1000);
    let following = std::iter::from_fn(|| {
        last = times.next_after(last)?;
        Some(last.0 / 1000)
    });
    following.take(asked.count).collect()
}

/// Contexts as they were given; of a run that is going well, without files.
struct Contexts(Value);

impl Surroundings for Contexts {
    fn context(&self, name: ContextName) -> Value {
        match &self.0 {
            Value::Object(contexts) => contexts.get(name.name()).cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }

    fn status(&self, function: Function, _: &[Arc<str>]) -> bool {
        matches!(function, Function::Success | Function::Always)
    }

    fn hash_files(&self, patterns: &[Arc<str>]) -> Result<String, String> {
        Ok(patterns.join("|"))
    }
}
