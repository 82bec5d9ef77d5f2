//! The expressions of workflow files: what stands in `${{ }}` and in an `if`.
//!
//! A text is read once (lexer, parser) against a [`Vocabulary`]: the contexts and functions that its place in the file may use.
//! The tree is evaluated against [`Surroundings`], which know the contexts' values. The server evaluates with it what decides
//! on runs and jobs, the runner evaluates with the same code what belongs to steps. Behaviour is that of GitHub Actions, as
//! `@actions/expressions` has it; `.ci/pipelines/run` compares the two, and `docs/decisions/pipelines.md` names where they differ.
//!
//! Reading and evaluating never recurse deeper than [`EXPRESSION_DEPTH_MAX`], and never make more than [`VALUES_MAX`] bytes.

mod budget;
mod compare;
mod evaluator;
mod fault;
mod functions;
mod json;
mod lexer;
mod number;
mod parser;
mod template;
mod tree;
mod usage;
mod value;
mod vocabulary;

#[cfg(test)]
mod tests;

pub use self::{
    budget::VALUES_MAX,
    evaluator::Surroundings,
    fault::{ExpressionFault, FaultKind},
    functions::Function,
    json::JSON_DEPTH_MAX,
    parser::EXPRESSION_DEPTH_MAX,
    template::{Part, Template, TemplateFault},
    tree::{EXPRESSION_LEN_MAX, Expression},
    usage::{Properties, Usage},
    value::{Array, Object, Value},
    vocabulary::{ContextName, SpecialFunction, Vocabulary},
};
