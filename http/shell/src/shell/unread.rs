//! Bodies that nobody read to their end.
//!
//! Once an answer is out, actix-web closes the connection of a request whose body still comes, so that nobody sends on
//! without end. Only a chunked body whose reader is gone by then is taken in and thrown away instead, for as long as the
//! client cares to send. So the reader stays until the answer is out.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{
    HttpResponse,
    body::{BodySize, BoxBody, MessageBody},
    dev::Payload,
};
use bytes::Bytes;

/// The answer, which keeps what is left of the request's body.
pub(super) fn hold(response: HttpResponse, unread: Payload) -> HttpResponse {
    if matches!(unread, Payload::None) {
        return response;
    }
    response.map_body(|_, body| BoxBody::new(Holding { body, _unread: unread }))
}

struct Holding {
    body: BoxBody,
    _unread: Payload,
}

impl MessageBody for Holding {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_next(context)
    }
}
