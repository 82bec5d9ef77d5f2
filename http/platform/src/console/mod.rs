//! The operators' console at `/console`: a page that is served from here, needs nothing from elsewhere, and shows what
//! `/v1/platform` answers, live.
//!
//! A browser signs in with password and second factor, and holds the sign-in's token in a cookie that scripts can't read,
//! that no other site's page sends, and that nothing but the console's own endpoints accepts ([`session`]). Whatever changes
//! something also shows that it comes from a page of this server. The page is made of files without a line of script or style in the HTML, so
//! that its policy lets a browser run nothing else.

mod files;
mod forward;
mod live;
mod pipelines;
mod session;

pub use self::session::COOKIE;
pub(crate) use self::{files::*, forward::*, live::*, session::*};
