//! What a handler may ask for.
//!
//! A handler's arguments are the whole of its guard: who may call it, what the path, the query and the body must hold.
//! Each is taken in the order in which it stands, so put who asks first, then what is asked for, then the body: a
//! stranger learns nothing from a malformed body. Each also describes itself in the OpenAPI document.

use crate::{call::Call, error::Result, facts::Facts};

/// Something that is taken from a request before its handler runs.
pub trait Argument: Sized {
    /// Adds what this argument asks of a request to the endpoint's description.
    fn describe(facts: &mut Facts);

    /// Takes it from the request, or says why not.
    fn take(call: &mut Call) -> impl Future<Output = Result<Self>>;
}

/// All arguments of a handler.
pub trait Arguments: Sized {
    /// Describes each in turn.
    fn describe(facts: &mut Facts);

    /// Takes each in turn; the first that can't be had ends it.
    fn take(call: &mut Call) -> impl Future<Output = Result<Self>>;
}

macro_rules! arguments {
    ($($name:ident)*) => {
        impl<$($name: Argument),*> Arguments for ($($name,)*) {
            #[allow(unused_variables, reason = "a handler without an argument describes nothing")]
            fn describe(facts: &mut Facts) {
                $($name::describe(facts);)*
            }

            #[allow(unused_variables, clippy::unused_unit, reason = "a handler without an argument takes nothing")]
            async fn take(call: &mut Call) -> Result<Self> {
                Ok(($($name::take(call).await?,)*))
            }
        }
    };
}

arguments!();
arguments!(A);
arguments!(A B);
arguments!(A B C);
arguments!(A B C D);
arguments!(A B C D E);
arguments!(A B C D E F);
arguments!(A B C D E F G);
