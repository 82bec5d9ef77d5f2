//! What a workflow file may say: which keys, of which kinds, and what the expressions at each place may name.

use crate::pipelines::expressions::{ContextName, Function, SpecialFunction, Vocabulary};

/// What may stand at a place.
pub(super) struct Type {
    /// What expressions may name here and below; nothing new where it is missing.
    pub vocabulary: Option<&'static Vocabulary>,
    /// The kinds of which the value is one.
    pub kinds: &'static [Kind],
}

/// A kind of value.
pub(super) enum Kind {
    /// Whatever YAML can say.
    Any,
    Null,
    Boolean,
    Number,
    /// Any text; what is no text is one as it is written.
    Text,
    /// A text with something in it.
    Filled,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// Values of a type in a row.
    Sequence(&'static Type),
    /// Keys that are known.
    Mapping(&'static [Property]),
    /// Keys of people's choice.
    Named(&'static Type),
    /// Some keys that are known, and keys of people's choice.
    Mixed(&'static [Property], &'static Type),
}

/// A key that is known.
pub(super) struct Property {
    pub name: &'static str,
    pub of: &'static Type,
    pub is_required: bool,
}

const fn optional(name: &'static str, of: &'static Type) -> Property {
    Property { name, of, is_required: false }
}

const fn required(name: &'static str, of: &'static Type) -> Property {
    Property { name, of, is_required: true }
}

const fn plain(kinds: &'static [Kind]) -> Type {
    Type { vocabulary: None, kinds }
}

const fn at(vocabulary: &'static Vocabulary, kinds: &'static [Kind]) -> Type {
    Type { vocabulary: Some(vocabulary), kinds }
}

use ContextName::{Env, Github, Inputs, Job, Matrix, Needs, Runner, Secrets, Steps, Strategy, Vars};

const fn function(function: Function, arguments_min: usize, arguments_max: usize) -> SpecialFunction {
    SpecialFunction { function, arguments_min, arguments_max }
}

const fn contexts(contexts: &'static [ContextName]) -> Vocabulary {
    Vocabulary { contexts, functions: &[] }
}

const HASH_FILES: SpecialFunction = function(Function::HashFiles, 1, 255);

/// `run-name`, `concurrency` of the workflow.
pub(super) static OF_RUN: Vocabulary = contexts(&[Github, Inputs, Vars]);
/// `env` of the workflow.
pub(super) static OF_WORKFLOW_ENV: Vocabulary = contexts(&[Github, Inputs, Vars, Secrets]);
/// `if` of a job.
pub(super) static OF_JOB_IF: Vocabulary = Vocabulary {
    contexts: &[Github, Inputs, Vars, Needs],
    functions: &[
        function(Function::Always, 0, 0),
        function(Function::Failure, 0, usize::MAX),
        function(Function::Cancelled, 0, 0),
        function(Function::Success, 0, usize::MAX),
    ],
};
/// `strategy` of a job.
pub(super) static OF_STRATEGY: Vocabulary = contexts(&[Github, Inputs, Vars, Needs]);
/// What of a job the server evaluates when its place in the matrix is known.
pub(super) static OF_JOB: Vocabulary = contexts(&[Github, Inputs, Vars, Needs, Strategy, Matrix]);
/// `env` of a job.
pub static OF_JOB_ENV: Vocabulary = contexts(&[Github, Inputs, Vars, Needs, Strategy, Matrix, Secrets]);
/// `defaults.run` of a job.
pub static OF_JOB_DEFAULTS: Vocabulary = contexts(&[Github, Inputs, Vars, Strategy, Matrix, Needs, Env]);
/// `outputs` of a job.
pub static OF_OUTPUTS: Vocabulary =
    contexts(&[Github, Inputs, Vars, Needs, Strategy, Matrix, Secrets, Steps, Job, Runner, Env]);
/// `environment.url` of a job.
pub static OF_URL: Vocabulary = contexts(&[Github, Inputs, Vars, Needs, Strategy, Matrix, Steps, Job, Runner, Env]);
/// What the runner evaluates when a step begins.
pub static OF_STEP: Vocabulary = Vocabulary {
    contexts: &[Github, Inputs, Vars, Needs, Strategy, Matrix, Secrets, Steps, Job, Runner, Env],
    functions: &[HASH_FILES],
};
/// `if` of a step.
pub static OF_STEP_IF: Vocabulary = Vocabulary {
    contexts: &[Github, Inputs, Vars, Needs, Strategy, Matrix, Steps, Job, Runner, Env],
    functions: &[
        function(Function::Always, 0, 0),
        function(Function::Failure, 0, 0),
        function(Function::Cancelled, 0, 0),
        function(Function::Success, 0, 0),
        HASH_FILES,
    ],
};

static TEXT: Type = plain(&[Kind::Text]);
static FILLED: Type = plain(&[Kind::Filled]);
static BOOLEAN: Type = plain(&[Kind::Boolean]);
static NUMBER: Type = plain(&[Kind::Number]);
static ANY: Type = plain(&[Kind::Any]);
static TEXTS: Type = plain(&[Kind::Sequence(&TEXT)]);
static FILLED_LIST: Type = plain(&[Kind::Filled, Kind::Sequence(&FILLED)]);

/// A workflow file.
pub(super) static WORKFLOW: Type = plain(&[Kind::Mapping(&[
    required("on", &ON),
    optional("name", &TEXT),
    optional("description", &TEXT),
    optional("run-name", &RUN_NAME),
    optional("defaults", &DEFAULTS),
    optional("env", &WORKFLOW_ENV),
    optional("permissions", &PERMISSIONS),
    optional("concurrency", &WORKFLOW_CONCURRENCY),
    required("jobs", &JOBS),
])]);

static RUN_NAME: Type = at(&OF_RUN, &[Kind::Text]);
static WORKFLOW_ENV: Type = at(&OF_WORKFLOW_ENV, &[Kind::Named(&TEXT)]);
static DEFAULTS: Type = plain(&[Kind::Mapping(&[optional("run", &DEFAULTS_RUN)])]);
static DEFAULTS_RUN: Type = plain(&[SHELL_AND_FOLDER]);
const SHELL_AND_FOLDER: Kind = Kind::Mapping(&[optional("shell", &FILLED), optional("working-directory", &FILLED)]);
static WORKFLOW_CONCURRENCY: Type = at(&OF_RUN, &[Kind::Text, CONCURRENCY]);
const CONCURRENCY: Kind =
    Kind::Mapping(&[required("group", &FILLED), optional("cancel-in-progress", &BOOLEAN), optional("queue", &QUEUE)]);
static QUEUE: Type = plain(&[Kind::OneOf(&["single", "max"])]);

static PERMISSIONS: Type = plain(&[
    Kind::Mapping(&[
        optional("actions", &LEVEL),
        optional("artifact-metadata", &LEVEL),
        optional("attestations", &LEVEL),
        optional("checks", &LEVEL),
        optional("code-quality", &LEVEL),
        optional("contents", &LEVEL),
        optional("copilot-requests", &WRITE_OR_NONE),
        optional("deployments", &LEVEL),
        optional("discussions", &LEVEL),
        optional("drives", &LEVEL),
        optional("id-token", &WRITE_OR_NONE),
        optional("issues", &LEVEL),
        optional("models", &READ_OR_NONE),
        optional("packages", &LEVEL),
        optional("pages", &LEVEL),
        optional("pull-requests", &LEVEL),
        optional("repository-projects", &LEVEL),
        optional("security-events", &LEVEL),
        optional("statuses", &LEVEL),
        optional("vulnerability-alerts", &READ_OR_NONE),
    ]),
    Kind::OneOf(&["read-all", "write-all"]),
]);
static LEVEL: Type = plain(&[Kind::OneOf(&["read", "write", "none"])]);
static WRITE_OR_NONE: Type = plain(&[Kind::OneOf(&["write", "none"])]);
static READ_OR_NONE: Type = plain(&[Kind::OneOf(&["read", "none"])]);

/// Events of GitHub that start nothing here. A file may name them, with whatever belongs to them.
pub(super) const FOREIGN_EVENTS: &[&str] = &[
    "branch_protection_rule",
    "check_run",
    "check_suite",
    "create",
    "delete",
    "deployment",
    "deployment_status",
    "discussion",
    "discussion_comment",
    "fork",
    "gollum",
    "image_version",
    "issue_comment",
    "issues",
    "label",
    "merge_group",
    "milestone",
    "page_build",
    "project",
    "project_card",
    "project_column",
    "public",
    "pull_request_comment",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_target",
    "registry_package",
    "release",
    "repository_dispatch",
    "status",
    "watch",
    "workflow_call",
    "workflow_run",
];
/// Events that start runs.
pub(super) const EVENTS: &[&str] = &["push", "pull_request", "schedule", "workflow_dispatch"];

/// Event names are looked up by `triggers`, because those of GitHub's are only warned of.
static ON: Type = plain(&[
    Kind::Text,
    Kind::Sequence(&TEXT),
    Kind::Mixed(
        &[
            optional("push", &PUSH),
            optional("pull_request", &PULL_REQUEST),
            optional("schedule", &SCHEDULE),
            optional("workflow_dispatch", &WORKFLOW_DISPATCH),
        ],
        &ANY,
    ),
]);
static PUSH: Type = plain(&[
    Kind::Null,
    Kind::Mapping(&[
        optional("branches", &FILLED_LIST),
        optional("branches-ignore", &FILLED_LIST),
        optional("tags", &FILLED_LIST),
        optional("tags-ignore", &FILLED_LIST),
        optional("paths", &FILLED_LIST),
        optional("paths-ignore", &FILLED_LIST),
    ]),
]);
static PULL_REQUEST: Type = plain(&[
    Kind::Null,
    Kind::Mapping(&[
        optional("types", &ACTIVITIES),
        optional("branches", &FILLED_LIST),
        optional("branches-ignore", &FILLED_LIST),
        optional("paths", &FILLED_LIST),
        optional("paths-ignore", &FILLED_LIST),
    ]),
]);
static ACTIVITIES: Type = plain(&[ACTIVITY_KIND, Kind::Sequence(&ACTIVITY)]);
static ACTIVITY: Type = plain(&[ACTIVITY_KIND]);
const ACTIVITY_KIND: Kind = Kind::OneOf(&[
    "assigned",
    "unassigned",
    "labeled",
    "unlabeled",
    "opened",
    "edited",
    "closed",
    "reopened",
    "synchronize",
    "converted_to_draft",
    "locked",
    "unlocked",
    "enqueued",
    "dequeued",
    "milestoned",
    "demilestoned",
    "ready_for_review",
    "review_requested",
    "review_request_removed",
    "auto_merge_enabled",
    "auto_merge_disabled",
    "stacked",
]);
static SCHEDULE: Type = plain(&[Kind::Sequence(&CRON)]);
static CRON: Type = plain(&[Kind::Mapping(&[required("cron", &FILLED), optional("timezone", &FILLED)])]);
static WORKFLOW_DISPATCH: Type = plain(&[Kind::Null, Kind::Mapping(&[optional("inputs", &INPUTS)])]);
static INPUTS: Type = plain(&[Kind::Named(&INPUT)]);
static INPUT: Type = plain(&[Kind::Mapping(&[
    optional("description", &TEXT),
    optional("type", &INPUT_TYPE),
    optional("required", &BOOLEAN),
    optional("default", &INPUT_DEFAULT),
    optional("options", &TEXTS),
])]);
static INPUT_TYPE: Type = plain(&[Kind::OneOf(&["string", "boolean", "number", "environment", "choice"])]);
static INPUT_DEFAULT: Type = plain(&[Kind::Text, Kind::Boolean, Kind::Number]);

static JOBS: Type = plain(&[Kind::Named(&JOB)]);
static JOB: Type = plain(&[Kind::Mapping(&[
    optional("needs", &FILLED_LIST),
    optional("if", &JOB_IF),
    optional("strategy", &STRATEGY),
    optional("name", &JOB_TEXT),
    required("runs-on", &RUNS_ON),
    optional("timeout-minutes", &JOB_NUMBER),
    optional("continue-on-error", &JOB_BOOLEAN),
    optional("env", &JOB_ENV),
    optional("environment", &JOB_ENVIRONMENT),
    optional("permissions", &PERMISSIONS),
    optional("concurrency", &JOB_CONCURRENCY),
    optional("outputs", &JOB_OUTPUTS),
    optional("defaults", &JOB_DEFAULTS),
    optional("steps", &STEPS),
])]);
static JOB_IF: Type = at(&OF_JOB_IF, &[Kind::Text]);
static JOB_TEXT: Type = at(&OF_JOB, &[Kind::Text]);
static JOB_NUMBER: Type = at(&OF_JOB, &[Kind::Number]);
static JOB_BOOLEAN: Type = at(&OF_JOB, &[Kind::Boolean]);
static STRATEGY: Type = at(
    &OF_STRATEGY,
    &[Kind::Mapping(&[
        optional("fail-fast", &BOOLEAN),
        optional("max-parallel", &NUMBER),
        optional("matrix", &MATRIX),
    ])],
);
static MATRIX: Type =
    plain(&[Kind::Mixed(&[optional("include", &MATRIX_ROWS), optional("exclude", &MATRIX_ROWS)], &MATRIX_VALUES)]);
static MATRIX_VALUES: Type = plain(&[Kind::Sequence(&ANY)]);
static MATRIX_ROWS: Type = plain(&[Kind::Sequence(&MATRIX_ROW)]);
static MATRIX_ROW: Type = plain(&[Kind::Named(&ANY)]);
static RUNS_ON: Type = at(
    &OF_JOB,
    &[
        Kind::Filled,
        Kind::Sequence(&FILLED),
        Kind::Mapping(&[optional("group", &FILLED), optional("labels", &FILLED_LIST)]),
    ],
);
static JOB_ENV: Type = at(&OF_JOB_ENV, &[Kind::Named(&TEXT)]);
static JOB_CONCURRENCY: Type = at(&OF_JOB, &[Kind::Filled, CONCURRENCY]);
static JOB_ENVIRONMENT: Type = at(
    &OF_JOB,
    &[
        Kind::Text,
        Kind::Mapping(&[required("name", &TEXT), optional("url", &ENVIRONMENT_URL), optional("deployment", &BOOLEAN)]),
    ],
);
static ENVIRONMENT_URL: Type = at(&OF_URL, &[Kind::Text]);
static JOB_OUTPUTS: Type = plain(&[Kind::Named(&JOB_OUTPUT)]);
static JOB_OUTPUT: Type = at(&OF_OUTPUTS, &[Kind::Text]);
static JOB_DEFAULTS: Type = plain(&[Kind::Mapping(&[optional("run", &JOB_DEFAULTS_RUN)])]);
static JOB_DEFAULTS_RUN: Type = at(&OF_JOB_DEFAULTS, &[SHELL_AND_FOLDER]);

static STEPS: Type = plain(&[Kind::Sequence(&STEP)]);
static STEP: Type = plain(&[Kind::Mapping(RUN_STEP), Kind::Mapping(ACTION_STEP)]);
const RUN_STEP: &[Property] = &[
    optional("name", &STEP_TEXT),
    optional("id", &FILLED),
    optional("if", &STEP_IF),
    optional("timeout-minutes", &STEP_NUMBER),
    required("run", &STEP_TEXT),
    optional("continue-on-error", &STEP_BOOLEAN),
    optional("env", &STEP_BINDINGS),
    optional("working-directory", &STEP_TEXT),
    optional("shell", &FILLED),
];
const ACTION_STEP: &[Property] = &[
    optional("name", &STEP_TEXT),
    optional("id", &FILLED),
    optional("if", &STEP_IF),
    optional("continue-on-error", &STEP_BOOLEAN),
    optional("timeout-minutes", &STEP_NUMBER),
    required("uses", &FILLED),
    optional("with", &STEP_BINDINGS),
    optional("env", &STEP_BINDINGS),
];
static STEP_TEXT: Type = at(&OF_STEP, &[Kind::Text]);
static STEP_NUMBER: Type = at(&OF_STEP, &[Kind::Number]);
static STEP_BOOLEAN: Type = at(&OF_STEP, &[Kind::Boolean]);
static STEP_BINDINGS: Type = at(&OF_STEP, &[Kind::Named(&TEXT)]);
static STEP_IF: Type = at(&OF_STEP_IF, &[Kind::Text]);
