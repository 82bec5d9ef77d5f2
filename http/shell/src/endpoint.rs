//! One line of the URL tree: a method, a path, a handler, and what the line says beside them.

use std::sync::LazyLock;

pub use actix_web::http::Method;
use actix_web::{HttpResponse, dev::Handler};
use futures::future::LocalBoxFuture;
// Hidden, but what its derives and its router bindings use to find the schemas that an annotation names.
use utoipa::{__dev::SchemaReferences, openapi::path::HttpMethod};

use crate::{
    answer::Answer,
    argument::Arguments,
    call::Call,
    error::Result,
    facts::{Access, Facts},
    idempotency::{self, IdempotencyState},
    shell::Meters,
};

type Describe = Box<dyn FnOnce() -> Facts + Send>;
type Run = Box<dyn for<'c> Fn(&'c mut Call) -> LocalBoxFuture<'c, Result<HttpResponse>> + Send + Sync>;

/// What a line of the URL tree says beside its handler.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// A `POST` that makes something: it honours `Idempotency-Key`.
    pub creates: bool,
    /// Requests a minute from one address, in a bucket of this endpoint's own.
    pub per_address: Option<u32>,
    /// Anyone may call it, although no argument says so.
    pub open: bool,
}

impl Rules {
    /// The endpoint makes something: a repeated request with the same `Idempotency-Key` is answered the same.
    #[must_use]
    pub const fn creates(mut self) -> Self {
        self.creates = true;
        self
    }

    /// One address may call it this many times a minute.
    #[must_use]
    pub const fn per_address(mut self, requests_per_minute: u32) -> Self {
        self.per_address = Some(requests_per_minute);
        self
    }

    /// Anyone may call it.
    #[must_use]
    pub const fn open(mut self) -> Self {
        self.open = true;
        self
    }
}

/// An endpoint.
pub struct Endpoint {
    /// The method.
    pub method: Method,
    /// The path with its parameters in braces.
    pub path: &'static str,
    /// The names of the path's parameters in their order.
    pub path_names: Vec<&'static str>,
    /// The area of the contract that it belongs to.
    pub area: &'static str,
    /// What its line says.
    pub rules: Rules,
    /// What its arguments and its answer say; gathered when it is first asked or described, as the schemas of all endpoints are
    /// half the work of a start.
    pub facts: LazyLock<Facts, Describe>,
    /// The method and path that stand above the handler; a test compares them with the line's.
    pub annotated: (Vec<HttpMethod>, String),
    pub(crate) meters: Meters,
    run: Run,
}

impl Endpoint {
    /// A line of the tree. `P` is what `#[utoipa::path]` made of the handler's annotation.
    pub fn new<P, H, A>(method: Method, path: &'static str, area: &'static str, handler: H, rules: Rules) -> Self
    where
        P: utoipa::Path + SchemaReferences + 'static,
        H: Handler<A> + Send + Sync,
        H::Output: Answer,
        A: Arguments + 'static,
    {
        Self {
            method,
            path,
            path_names: parameter_names(path),
            area,
            rules,
            facts: LazyLock::new(Box::new(move || describe::<P, H::Output, A>(rules))),
            annotated: (P::methods(), P::path()),
            meters: Meters::default(),
            run: Box::new(move |call| Box::pin(run(handler.clone(), call))),
        }
    }

    /// Takes the handler's arguments, runs it, and writes its answer.
    pub async fn run(&self, call: &mut Call) -> Result<HttpResponse> {
        (self.run)(call).await
    }

    /// The path as the document writes it: a parameter that takes slashes is a parameter.
    pub fn documented_path(&self) -> String {
        self.path.replace("{*", "{")
    }

    /// Whether a valid credential is needed.
    pub fn is_signed_in(&self) -> bool {
        self.facts.access == Access::SignedIn
    }
}

/// Gathers what a handler's annotation, its arguments and its answer say.
fn describe<P, O, A>(rules: Rules) -> Facts
where
    P: utoipa::Path + SchemaReferences,
    O: Answer,
    A: Arguments,
{
    let mut facts = Facts::new(P::operation());
    P::schemas(&mut facts.schemas);
    A::describe(&mut facts);
    O::describe(&mut facts);
    if rules.open {
        facts.open();
    }
    if rules.creates {
        idempotency::describe(&mut facts);
    }
    facts.complete();
    facts
}

async fn run<H, A>(handler: H, call: &mut Call) -> Result<HttpResponse>
where
    H: Handler<A>,
    H::Output: Answer,
    A: Arguments,
{
    match idempotency::stake(call).await? {
        IdempotencyState::No => taken(handler, call).await,
        IdempotencyState::Replay(first_answer) => Ok(first_answer),
        IdempotencyState::Claim(claim) => {
            let outcome = taken(handler, call).await;
            Box::pin(claim.settle(call, outcome)).await
        }
    }
}

/// Takes the arguments, runs the handler, writes its answer.
async fn taken<H, A>(handler: H, call: &mut Call) -> Result<HttpResponse>
where
    H: Handler<A>,
    H::Output: Answer,
    A: Arguments,
{
    let arguments = A::take(call).await?;
    handler.call(arguments).await.respond(call)
}

fn parameter_names(path: &'static str) -> Vec<&'static str> {
    path.split('/')
        .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| name.trim_start_matches('*'))
        .collect()
}

/// Lines of the URL tree, as a [`Vec`] of [`Endpoint`]s in their order.
///
/// A line is `METHOD "path" => module::handler`, and what applies to it beside its arguments: `creates` (honours
/// `Idempotency-Key`), `per_address(n)` (a rate limit a minute), `open()` (anyone may call it, although no argument says
/// so). Who may call an endpoint and how large its body may be stand in the handler's arguments; `docs/endpoints.md`
/// shows them all. Lines stand under the name that the reference page shows them by.
#[macro_export]
macro_rules! page {
    ($($area:literal { $($method:ident $path:literal => $module:ident :: $handler:ident $(, $rule:ident ( $($value:expr),* ))* ;)* })*) => {
        $crate::pastey::paste! {
            ::std::vec![$($(
                $crate::endpoint::Endpoint::new::<$module::[<__path_ $handler>], _, _>(
                    $crate::endpoint::Method::$method,
                    $path,
                    $area,
                    $module::$handler,
                    $crate::endpoint::Rules::default()$(.$rule($($value),*))*,
                ),
            )*)*]
        }
    };
}
