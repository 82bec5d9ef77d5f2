//! The whole URL tree, on one page.
//!
//! A line is `METHOD "path" => module::handler`, and what applies to it beside its arguments: `creates` (honours
//! `Idempotency-Key`), `per_address(n)` (a rate limit a minute), `open()` (anyone may call it, although no argument says
//! so). Who may call an endpoint and how large its body may be stand in the handler's arguments; `docs/endpoints.md`
//! shows them all. Lines stand under the area whose name the reference page shows.

use actix_web::http::Method;

use crate::{
    endpoint::{Endpoint, Rules},
    meta,
};

macro_rules! page {
    ($($area:literal { $($method:ident $path:literal => $module:ident :: $handler:ident $(, $rule:ident ( $($value:expr),* ))* ;)* })*) => {
        pastey::paste! {
            vec![$($(
                Endpoint::new::<$module::[<__path_ $handler>], _, _>(
                    Method::$method,
                    $path,
                    $area,
                    $module::$handler,
                    Rules::default()$(.$rule($($value),*))*,
                ),
            )*)*]
        }
    };
}

/// The lines.
#[rustfmt::skip]
pub(crate) fn page() -> Vec<Endpoint> {
    page! {
        "About this server" {
            GET    "/v1/openapi.json"           => meta::openapi_view;
        }
    }
}
