//! The handshake.

use std::{marker::PhantomData, sync::Arc};

use actix_web::{FromRequest, HttpResponse, dev::Payload, web};
use actix_ws::{AggregatedMessageStream, Session};
use domain::{Caller, Context, Error, Origin};
use gateways::hub::Ticket;
use utoipa::openapi::path::{ParameterBuilder, ParameterIn};
use utoipa::openapi::{
    Required,
    schema::{ObjectBuilder, Type},
};

use super::{Source, frames::Frames, runner, watch::Watch};
use crate::{argument::Argument, call::Call, error::Result, facts::Facts, origin, state::State};

/// The largest message that a client may send, in bytes.
const INCOMING_LEN_MAX: usize = 1024 * 1024;

/// A kind of socket: what its tickets are bound to.
pub trait SocketKind: 'static {
    /// The resource that a ticket must have been issued for, as the request names it.
    fn resource(call: &Call) -> Result<String>;
}

/// A socket whose ticket was good, and is spent. Holding it proves what the ticket stands for.
pub struct Opening<K: SocketKind> {
    state: State,
    context: Context,
    ticket: Ticket,
    response: HttpResponse,
    session: Session,
    messages: AggregatedMessageStream,
    kind: PhantomData<K>,
}

impl<K: SocketKind> Opening<K> {
    /// Who opens it, for what, with which rights.
    pub const fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// The context for what is done on the socket's behalf.
    pub fn context(&self) -> Context {
        self.context.clone()
    }

    /// Opens it, and serves it from `source` until it ends.
    pub async fn serve(self, source: impl Source) -> Result<HttpResponse> {
        // From here on revocations are heard; what was revoked since the ticket was issued is looked up.
        let mut watch = Watch::new(Arc::clone(&self.state), self.ticket);
        if !watch.sign_in_is_good().await? {
            return Err(Error::Unauthenticated.into());
        }
        actix_web::rt::spawn(runner::run(self.session, self.messages, source, watch));
        Ok(self.response)
    }
}

impl<K: SocketKind> Argument for Opening<K> {
    fn describe(facts: &mut Facts) {
        facts.open();
        facts.streams = true;
        facts.parameter(
            ParameterBuilder::new()
                .name("ticket")
                .parameter_in(ParameterIn::Query)
                .required(Required::True)
                .description(Some("The ticket; it opens one socket."))
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .build(),
        );
        facts.error(400, "Open this address with a WebSocket client.");
        facts.error(401, "Sign in to continue.");
        facts.error(403, "Pages of this origin may not open sockets here.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let state = Arc::clone(&call.state);
        if !origin::may_open_sockets(&state, call.request.headers()) {
            return Err(Error::forbidden("origin", "Pages of this origin may not open sockets here.").into());
        }
        let not_a_socket = |_| Error::bad_request("not_a_socket", "Open this address with a WebSocket client.");
        let frames = Frames::new(call.take_payload(), INCOMING_LEN_MAX as u64);
        let mut payload: Payload = Payload::Stream { payload: Box::pin(frames) };
        let payload = web::Payload::from_request(&call.request, &mut payload).await.map_err(not_a_socket)?;
        let (response, session, messages) = actix_ws::handle(&call.request, payload).map_err(not_a_socket)?;
        let token = ticket_of(call.request.query_string()).ok_or(Error::Unauthenticated)?;
        let resource = K::resource(call)?;
        let spent = state.hub.ticket_spend(&token, &resource, state.store.now()).await?;
        let ticket = spent.ok_or(Error::Unauthenticated)?;
        let context = Context { origin: Origin::Socket, caller: Caller::Nobody, ..call.context.clone() };
        let messages =
            messages.max_frame_size(INCOMING_LEN_MAX).aggregate_continuations().max_continuation_size(INCOMING_LEN_MAX);
        Ok(Self { state, context, ticket, response, session, messages, kind: PhantomData })
    }
}

fn ticket_of(query: &str) -> Option<String> {
    form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "ticket").map(|(_, value)| value.into_owned())
}
