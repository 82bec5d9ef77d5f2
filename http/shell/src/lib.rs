//! The shell: what stands around the endpoints of every area, and what they are made of. The one wrapper around all requests,
//! arguments and answers, callers and permissions, sockets, and what each says of itself in the OpenAPI document.
//!
//! Each area's endpoints are a package of their own, which takes from here and from no other area.
//!
//! A request goes through [`shell`], once, whatever it asks for: request id, route, credential, rate limit, deadline,
//! span and metrics. Then its endpoint takes its arguments, runs, and answers.
//!
//! # How to add an endpoint
//!
//! 1. Write the handler in the area's package: decode, one call, encode. Its **arguments are its guard and its
//!    documentation**, taken in the order in which they stand:
//!
//!    | argument | holding it proves |
//!    |---|---|
//!    | [`Person`](caller::Person)`<D>` | a person who passed the [`Door`](caller::Door) `D` (by default any person) |
//!    | [`AnyCaller`](caller::AnyCaller) | a valid credential of a person or a key |
//!    | [`Anyone`](caller::Anyone) | nothing; the endpoint is open |
//!    | [`Org`](org::Org)`<P>` | a caller with the permission `P` in the path's `orgId`, which the caller has a part in |
//!    | `Operator<P>` (in `platform`) | a caller with the permission `P` in the platform's organization |
//!    | [`Path`](path::Path)`<T>` | the path's parameter that `T: PathParameter` names; what can't be read is 404 |
//!    | [`Owned`](owned::Owned)`<T>` | the row that the path names, loaded: the organization's, or the person's own |
//!    | [`Query`](query::Query)`<T>` | a query whose structure and rules hold |
//!    | [`Body`](body::Body)`<T>` | a JSON body, at most `T::LIMIT` bytes, whose structure and rules hold |
//!    | [`State`](state::State) | the store for reads, the actors for writes, the hub |
//!
//!    Who asks comes first, then query and body: a stranger learns nothing from a malformed body. What is loaded comes
//!    behind them: a malformed request costs no read. A handler loads nothing by the path's id itself.
//! 2. The return type is the answer: [`Json`](answer::Json) 200, [`Object`](answer::Object) 200 with `ETag`,
//!    [`Created`](answer::Created) 201, [`Accepted`](answer::Accepted) 202, [`NoContent`](answer::NoContent) 204,
//!    [`Either`](answer::Either) of two, in a [`Result`](error::Result) whose `?` takes domain and store errors.
//! 3. Above it stand its doc comment (the first line is its title, without a full stop) and `#[utoipa::path(get,
//!    path = "/v1/…")]`. The types add body, parameters, success, 400, 401, 403, 404, 413 by themselves; write only
//!    what they can't know: `responses((status = 409, description = "The contract's sentence."))`.
//! 4. Add its line to the area's own page, `routes.rs`, as [`page!`] has it.
//!
//! Wire types derive `Serialize`/`Deserialize` and `ToSchema`, in camelCase. A domain type has no schema of its own:
//! `#[schema(value_type = String, example = "usr_…")]` for an id, `#[schema(value_type = i64)]` for a `Timestamp`.
//!
//! ```text
//! /// Save the backup
//! ///
//! /// Saves only when `revision` equals the current one.
//! #[utoipa::path(put, path = "/v1/me/authenticator/vault",
//!     responses((status = 409, description = "The backup changed since this phone last saw it.", body = StaleBackup)))]
//! pub(crate) async fn backup_put(person: Person<BackupDoor>, body: Body<BackupPut>, state: State) -> Result<Json<BackupAnswer>> {
//!     let saved = state.actors.backup.ask(&person.user_id(), body.into_inner().into(), person.context()).await?;
//!     Ok(Json(saved.into()))
//! }
//! ```

pub mod answer;
pub mod argument;
pub mod body;
pub mod body_room;
pub mod call;
pub mod caller;
pub mod credentials;
pub mod cursor;
pub mod download;
pub mod endpoint;
pub mod error;
pub mod facts;
pub mod form;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod idempotency;
pub mod listing;
pub mod mailbox;
pub mod options;
pub mod org;
pub mod origin;
pub mod owned;
pub mod paging;
pub mod path;
pub mod permission;
pub mod query;
pub mod repository;
pub mod revocations;
pub mod router;
mod schema_check;
pub mod shell;
pub mod socket;
pub mod spool;
pub mod state;
mod structure;
pub mod trace_parent;
pub mod upload;
pub mod watching;
pub mod wire;

#[doc(hidden)]
pub use pastey;
