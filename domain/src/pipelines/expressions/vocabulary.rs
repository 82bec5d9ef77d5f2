//! What an expression may name, by its place in the workflow file.

use super::functions::Function;

/// A context: what of a run an expression may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContextName {
    /// The event, the ref, the actor; `service` is another name for it.
    Github,
    /// Environment variables that the workflow, the job or the step sets.
    Env,
    /// Variables of repository, environment and organization.
    Vars,
    /// The job that runs.
    Job,
    /// Steps of the job that have run.
    Steps,
    /// The machine that the job runs on.
    Runner,
    /// Secrets of repository, environment and organization.
    Secrets,
    /// How the job's matrix runs.
    Strategy,
    /// The job's place in its matrix.
    Matrix,
    /// Jobs that this one needs.
    Needs,
    /// What was asked for when the run was dispatched.
    Inputs,
}

impl ContextName {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Github,
        Self::Env,
        Self::Vars,
        Self::Job,
        Self::Steps,
        Self::Runner,
        Self::Secrets,
        Self::Strategy,
        Self::Matrix,
        Self::Needs,
        Self::Inputs,
    ];

    /// The name as expressions write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Github => "github",
            Self::Env => "env",
            Self::Vars => "vars",
            Self::Job => "job",
            Self::Steps => "steps",
            Self::Runner => "runner",
            Self::Secrets => "secrets",
            Self::Strategy => "strategy",
            Self::Matrix => "matrix",
            Self::Needs => "needs",
            Self::Inputs => "inputs",
        }
    }

    /// The context of this name, regardless of case.
    pub fn read(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("service") {
            return Some(Self::Github);
        }
        Self::ALL.into_iter().find(|context| name.eq_ignore_ascii_case(context.name()))
    }
}

/// A function that only some places know, and how many arguments it takes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialFunction {
    /// Which one.
    pub function: Function,
    /// Arguments, at least.
    pub arguments_min: usize,
    /// Arguments, at most.
    pub arguments_max: usize,
}

/// What an expression at some place may name beside the functions that all places know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// The contexts.
    pub contexts: &'static [ContextName],
    /// The functions.
    pub functions: &'static [SpecialFunction],
}

impl Vocabulary {
    /// A place where no expression may stand.
    pub const NONE: Self = Self { contexts: &[], functions: &[] };
}
