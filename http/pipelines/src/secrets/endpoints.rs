//! What the endpoints of secrets and of variables do, whosever they are. What is said of each, and where it is, stands on the page
//! of those whose they are.

use std::marker::PhantomData;

use domain::pipelines::values::{SECRET_NOT_FOUND, VARIABLE_NOT_FOUND, ValueKind};
use http_shell::{answer::Json, error::Result, path::PathParameter};
use store::pipelines::StoredValue;

use super::body::{PipelineSecretAnswer, PipelineSecretsAnswer, PipelineVariableAnswer, PipelineVariablesAnswer};

/// Secrets, or variables: how a path names one, and how they are answered.
pub(crate) trait Kind {
    const KIND: ValueKind;
    /// The parameter of the path.
    const PARAMETER: &'static str;
    const DESCRIPTION: &'static str;
    const EXAMPLE: &'static str;
    const NOT_FOUND: &'static str;

    /// The answer with one.
    type One: From<StoredValue>;
    /// The answer with all.
    type All: From<Vec<StoredValue>>;
}

/// The kind of secrets.
pub(crate) struct Secrets;

impl Kind for Secrets {
    const KIND: ValueKind = ValueKind::Secret;
    const PARAMETER: &'static str = "secret";
    const DESCRIPTION: &'static str = "The name of a secret: capital letters, digits and underscores.";
    const EXAMPLE: &'static str = "DEPLOY_KEY";
    const NOT_FOUND: &'static str = SECRET_NOT_FOUND;

    type One = PipelineSecretAnswer;
    type All = PipelineSecretsAnswer;
}

/// The kind of variables.
pub(crate) struct Variables;

impl Kind for Variables {
    const KIND: ValueKind = ValueKind::Variable;
    const PARAMETER: &'static str = "variable";
    const DESCRIPTION: &'static str = "The name of a variable: capital letters, digits and underscores.";
    const EXAMPLE: &'static str = "REGION";
    const NOT_FOUND: &'static str = VARIABLE_NOT_FOUND;

    type One = PipelineVariableAnswer;
    type All = PipelineVariablesAnswer;
}

/// The name of a secret or of a variable, as the path has it.
pub(crate) struct NameOf<K> {
    pub(super) text: String,
    kind: PhantomData<K>,
}

impl<K: Kind> PathParameter for NameOf<K> {
    const NAME: &'static str = K::PARAMETER;
    const DESCRIPTION: &'static str = K::DESCRIPTION;
    const EXAMPLE: &'static str = K::EXAMPLE;
    const NOT_FOUND: &'static str = K::NOT_FOUND;

    fn read(text: &str) -> Option<Self> {
        Some(Self { text: text.to_owned(), kind: PhantomData })
    }
}

/// An answer with one secret or variable.
pub(crate) type One<K> = Result<Json<<K as Kind>::One>>;
/// An answer with all of them.
pub(crate) type All<K> = Result<Json<<K as Kind>::All>>;

/// The four endpoints of secrets, or of variables: whose they are, which of both, and what sets one.
macro_rules! endpoints {
    ($whose:ident, $kind:ident, $body:ident:
        $(#[$list_said:meta])* list $list:ident;
        $(#[$get_said:meta])* get $get:ident;
        $(#[$put_said:meta])* put $put:ident;
        $(#[$delete_said:meta])* delete $delete:ident;
    ) => {
        $(#[$list_said])*
        pub(crate) async fn $list(of: ValuesOf<$whose, EnvRead>, state: State) -> All<$kind> {
            of.all::<$kind>(&state).await
        }
        $(#[$get_said])*
        pub(crate) async fn $get(of: ValuesOf<$whose, EnvRead>, name: Path<NameOf<$kind>>, state: State) -> One<$kind> {
            of.one(name.0, &state).await
        }
        $(#[$put_said])*
        pub(crate) async fn $put(
            of: ValuesOf<$whose, EnvWrite>,
            body: Body<$body>,
            name: Path<NameOf<$kind>>,
            state: State,
        ) -> One<$kind> {
            of.set(name.0, &body.put(), &state).await
        }
        $(#[$delete_said])*
        pub(crate) async fn $delete(
            of: ValuesOf<$whose, EnvWrite>,
            name: Path<NameOf<$kind>>,
            state: State,
        ) -> Result<NoContent> {
            of.delete(name.0, &state).await
        }
    };
}

pub(super) use endpoints;
