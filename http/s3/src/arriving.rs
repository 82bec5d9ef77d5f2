//! Bodies of requests as they arrive. An answer may be there before its request's body has come; a connection that is closed then
//! is reset, and its client never reads the answer. So a short rest is taken in first.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};

/// Bytes of a rest that is taken in, which are more than XML and forms have; who sends more is cut off.
const REST_BYTES_MAX: u64 = 24 * 1_024 * 1_024;
/// How long a rest may take to come.
const REST_WITHIN: Duration = Duration::from_secs(5);

/// The body of a request. Each handle reads on where another one stopped.
#[derive(Clone)]
pub(crate) struct Arriving(Arc<Mutex<Incoming>>);

impl Arriving {
    /// The body of a request that has just come in.
    pub fn new(body: Incoming) -> Self {
        Self(Arc::new(Mutex::new(body)))
    }

    /// Takes in what nobody read, where that is short.
    pub async fn finish(mut self) {
        if self.is_end_stream() || self.size_hint().lower() > REST_BYTES_MAX {
            return;
        }
        let rest = async {
            let mut left = REST_BYTES_MAX;
            while let Some(Ok(frame)) = self.frame().await {
                let len = frame.data_ref().map_or(0, |bytes| bytes.len() as u64);
                let Some(rest) = left.checked_sub(len) else { return };
                left = rest;
            }
        };
        // Who takes longer is cut off too.
        let _ = tokio::time::timeout(REST_WITHIN, rest).await;
    }
}

impl Body for Arriving {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let mut body = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut *body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).size_hint()
    }
}
