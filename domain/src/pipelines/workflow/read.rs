//! From a tree that the table allows to a workflow.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    matrix::{MATRIX_JOBS_MAX, MatrixTree, Scalar},
    model::{
        Bindings, Concurrency, Condition, Defaults, Environment, JOBS_MAX, Job, JobKey, Permissions, Queue, RunsOn,
        Setting, Strategy, Workflow,
    },
    needs::{self, Needing},
    problem::Problems,
    schema::{
        OF_JOB, OF_JOB_DEFAULTS, OF_JOB_ENV, OF_JOB_IF, OF_OUTPUTS, OF_RUN, OF_STRATEGY, OF_URL, OF_WORKFLOW_ENV,
    },
    steps, triggers,
    yaml::{Node, NodeKind},
};
use crate::pipelines::expressions::{Expression, Part, Template, Value, Vocabulary};

/// Characters of a job's or step's name in the file, at most.
const IDENTIFIER_LEN_MAX: usize = 99;

/// What a file means, and what is wrong with it that the table can't say.
pub(super) fn workflow(root: &Node, problems: &mut Problems<'_>) -> Workflow {
    let mut read = Read { problems };
    let triggers = root.get("on").map(|on| triggers::read(on, read.problems)).unwrap_or_default();
    Workflow {
        name: root.get("name").and_then(Node::text).filter(|name| !name.is_empty()).map(|name| name.to_string()),
        run_name: root.get("run-name").map(|node| read.template(node, &OF_RUN)),
        triggers,
        permissions: root.get("permissions").map(permissions),
        env: read.bindings(root.get("env"), &OF_WORKFLOW_ENV),
        defaults: read.defaults(root, &Vocabulary::NONE),
        concurrency: root.get("concurrency").map(|node| read.concurrency(node, &OF_RUN)),
        jobs: root.get("jobs").map(|node| read.jobs(node)).unwrap_or_default(),
    }
}

/// Whether the text can be the name of a job or a step.
pub(super) fn identifier_fault(name: &str) -> Option<String> {
    let is_letter = |it: char| it.is_ascii_alphabetic() || it == '_';
    let is_name = name.starts_with(is_letter)
        && name.chars().all(|it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-'))
        && name.len() <= IDENTIFIER_LEN_MAX;
    if !is_name {
        return Some(format!(
            "The identifier '{name}' is invalid. It begins with a letter or '_', goes on with letters, digits, '_' and '-', \
             and has at most {IDENTIFIER_LEN_MAX} characters."
        ));
    }
    name.starts_with("__").then(|| format!("The identifier '{name}' is invalid. IDs starting with '__' are reserved."))
}

pub(super) struct Read<'a, 'b> {
    pub problems: &'a mut Problems<'b>,
}

impl Read<'_, '_> {
    /// A scalar with expressions.
    pub fn template(&mut self, node: &Node, vocabulary: &Vocabulary) -> Template {
        let text = node.text().unwrap_or_default();
        Template::parse(&text, vocabulary).unwrap_or_else(|fault| {
            self.problems.template(node, &text, &fault);
            Template::default()
        })
    }

    pub fn optional(&mut self, of: &Node, key: &str, vocabulary: &Vocabulary) -> Option<Template> {
        of.get(key).map(|node| self.template(node, vocabulary))
    }

    /// A boolean or number, or what gives one.
    pub fn setting<T>(&mut self, node: &Node, vocabulary: &Vocabulary, given: fn(&Value) -> Option<T>) -> Setting<T> {
        let value = match &node.kind {
            NodeKind::Scalar(value) => given(value),
            _ => None,
        };
        value.map_or_else(|| Setting::Evaluated(self.template(node, vocabulary)), Setting::Given)
    }

    /// A boolean, or what gives one; `otherwise` where nothing is said.
    pub fn flag(&mut self, node: Option<&Node>, vocabulary: &Vocabulary, otherwise: Setting<bool>) -> Setting<bool> {
        node.map_or(otherwise, |node| self.setting(node, vocabulary, boolean))
    }

    pub fn bindings(&mut self, node: Option<&Node>, vocabulary: &Vocabulary) -> Bindings {
        match node {
            None => Bindings::default(),
            Some(node) if matches!(node.kind, NodeKind::Scalar(_)) => {
                Bindings::Evaluated(self.template(node, vocabulary))
            }
            Some(node) => {
                let bound = node.entries().iter();
                Bindings::Each(bound.map(|(key, value)| (name(key), self.template(value, vocabulary))).collect())
            }
        }
    }

    fn defaults(&mut self, of: &Node, vocabulary: &Vocabulary) -> Defaults {
        let Some(run) = of.get("defaults").and_then(|defaults| defaults.get("run")) else { return Defaults::default() };
        Defaults {
            shell: self.optional(run, "shell", vocabulary),
            working_directory: self.optional(run, "working-directory", vocabulary),
        }
    }

    fn concurrency(&mut self, node: &Node, vocabulary: &Vocabulary) -> Concurrency {
        let group = node.get("group").unwrap_or(node);
        let queue = node.get("queue").and_then(Node::text);
        Concurrency {
            group: self.template(group, vocabulary),
            cancel_in_progress: self.flag(node.get("cancel-in-progress"), vocabulary, Setting::Given(false)),
            queue: if queue.as_deref() == Some("max") { Queue::Max } else { Queue::Single },
        }
    }

    /// An `if`, which needs no `${{ }}`.
    pub fn condition(&mut self, node: Option<&Node>, vocabulary: &Vocabulary) -> Condition {
        let Some(node) = node else { return Condition::SUCCESS };
        let text = node.text().unwrap_or_default();
        let template = self.template(node, vocabulary);
        let expression = match (template.as_literal(), template.parts()) {
            (None, [Part::Expression(expression)]) => Ok(expression.clone()),
            (None, _) => {
                let message = "Text stands beside the expression, so that the condition always holds";
                self.problems.warning(node.place, message);
                let wants_success = !template.usage().names_status();
                return Condition { given: Some(template), wants_success };
            }
            (Some(_), [Part::Expression(expression)]) => {
                Expression::parse(&expression.as_text().cloned().unwrap_or_default(), vocabulary)
            }
            _ if text.trim().is_empty() => return Condition::SUCCESS,
            _ => Expression::parse(text.trim(), vocabulary),
        };
        match expression {
            Ok(expression) => {
                let wants_success = !expression.usage().names_status();
                Condition { given: Some(Template::of(expression)), wants_success }
            }
            Err(fault) => {
                self.problems.error(node.place, fault.to_string());
                Condition::SUCCESS
            }
        }
    }

    fn jobs(&mut self, node: &Node) -> Vec<Job> {
        if node.entries().len() > JOBS_MAX {
            self.problems.error(node.place, format!("A workflow has at most {JOBS_MAX} jobs"));
            return Vec::new();
        }
        let jobs: Vec<Job> = node.entries().iter().map(|(key, value)| self.job(key, value)).collect();
        let needing: Vec<Needing<'_>> = node
            .entries()
            .iter()
            .map(|(key, value)| Needing { key: key.text().unwrap_or_default(), needs: list(value.get("needs")) })
            .collect();
        needs::check(node, &needing, self.problems);
        jobs
    }

    fn job(&mut self, key: &Node, node: &Node) -> Job {
        let name = name(key);
        if let Some(fault) = identifier_fault(&name) {
            self.problems.error(key.place, fault);
        }
        Job {
            key: JobKey(name),
            name: self.optional(node, "name", &OF_JOB).filter(|name| name.as_literal() != Some("")),
            needs: list(node.get("needs")).iter().map(|(need, _)| JobKey(need.to_string())).collect(),
            condition: self.condition(node.get("if"), &OF_JOB_IF),
            runs_on: self.runs_on(node.get("runs-on")),
            environment: node.get("environment").map(|node| self.environment(node)),
            concurrency: node.get("concurrency").map(|node| self.concurrency(node, &OF_JOB)),
            outputs: self.bindings(node.get("outputs"), &OF_OUTPUTS),
            env: self.env(node, &OF_JOB_ENV),
            defaults: self.defaults(node, &OF_JOB_DEFAULTS),
            timeout_minutes: node.get("timeout-minutes").map(|node| self.setting(node, &OF_JOB, number)),
            continue_on_error: self.flag(node.get("continue-on-error"), &OF_JOB, Setting::Given(false)),
            strategy: node.get("strategy").map(|node| self.strategy(node)),
            permissions: node.get("permissions").map(permissions),
            steps: steps::read(node.get("steps"), self),
        }
    }

    /// Environment variables of a job or step, which are named in the file.
    pub fn env(&mut self, of: &Node, vocabulary: &Vocabulary) -> Bindings {
        let node = of.get("env");
        if let Some(node) = node.filter(|node| matches!(node.kind, NodeKind::Scalar(_))) {
            self.problems.error(node.place, "A mapping was expected");
        }
        self.bindings(node, vocabulary)
    }

    fn runs_on(&mut self, node: Option<&Node>) -> RunsOn {
        let Some(node) = node else { return RunsOn::Labels { labels: Vec::new(), group: None } };
        if matches!(node.kind, NodeKind::Scalar(_)) {
            let template = self.template(node, &OF_JOB);
            return match template.as_literal() {
                Some(_) => RunsOn::Labels { labels: vec![template], group: None },
                None => RunsOn::Evaluated(template),
            };
        }
        let labels = node.get("labels").or(Some(node).filter(|node| !node.items().is_empty()));
        let labels = list(labels).iter().map(|(_, node)| self.template(node, &OF_JOB)).collect();
        let group = node.get("group");
        if let Some(node) = group
            && node.text().is_some_and(|name| !name.contains("${{") && !is_group(&name))
        {
            self.problems.error(node.place, "Invalid runs-on group name");
        }
        RunsOn::Labels { labels, group: group.map(|node| self.template(node, &OF_JOB)) }
    }

    fn environment(&mut self, node: &Node) -> Environment {
        let name = node.get("name").unwrap_or(node);
        Environment { name: self.template(name, &OF_JOB), url: self.optional(node, "url", &OF_URL) }
    }

    fn strategy(&mut self, node: &Node) -> Strategy {
        let matrix = node.get("matrix").map(|node| (node, self.tree(node)));
        if let Some((node, tree)) = &matrix
            && tree.jobs().is_some_and(|jobs| jobs > MATRIX_JOBS_MAX)
        {
            self.problems.error(node.place, format!("A matrix stands for at most {MATRIX_JOBS_MAX} jobs"));
        }
        Strategy {
            matrix: matrix.map(|(_, tree)| tree),
            fail_fast: self.flag(node.get("fail-fast"), &OF_STRATEGY, Setting::Given(true)),
            max_parallel: node.get("max-parallel").map(|node| self.setting(node, &OF_STRATEGY, number)),
        }
    }

    fn tree(&mut self, node: &Node) -> MatrixTree {
        match &node.kind {
            NodeKind::Scalar(Value::Null) => MatrixTree::Given(Scalar::Null),
            NodeKind::Scalar(Value::Boolean(value)) => MatrixTree::Given(Scalar::Boolean(*value)),
            NodeKind::Scalar(Value::Number(value)) => MatrixTree::Given(Scalar::Number(*value)),
            NodeKind::Scalar(_) => MatrixTree::Leaf(self.template(node, &OF_STRATEGY)),
            NodeKind::Sequence(items) => MatrixTree::Sequence(items.iter().map(|item| self.tree(item)).collect()),
            NodeKind::Mapping(entries) => {
                let entry = |(key, value): &(Node, Node)| (key.text().unwrap_or_default(), self.tree(value));
                MatrixTree::Mapping(entries.iter().map(entry).collect())
            }
        }
    }
}

fn name(key: &Node) -> String {
    key.text().unwrap_or_default().to_string()
}

/// A list of texts, or one of them.
fn list(node: Option<&Node>) -> Vec<(Arc<str>, &Node)> {
    let Some(node) = node else { return Vec::new() };
    let items = match &node.kind {
        NodeKind::Sequence(items) => items,
        _ => std::slice::from_ref(node),
    };
    items.iter().filter_map(|item| Some((item.text()?, item))).collect()
}

fn boolean(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(value) => Some(*value),
        _ => None,
    }
}

pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(value) => Some(*value),
        _ => None,
    }
}

fn permissions(node: &Node) -> Permissions {
    match node.text().as_deref() {
        Some("write-all") => Permissions::WriteAll,
        Some(_) => Permissions::ReadAll,
        None => {
            let level = |(key, value): &(Node, Node)| (name(key), name(value));
            Permissions::Each(node.entries().iter().map(level).collect::<BTreeMap<_, _>>())
        }
    }
}

/// Whether a group of runners may be named so: alone, or behind whose it is.
fn is_group(name: &str) -> bool {
    match name.split_once('/') {
        None => true,
        Some((of, group)) => {
            matches!(of, "org" | "organization" | "ent" | "enterprise") && !group.is_empty() && !group.contains('/')
        }
    }
}
