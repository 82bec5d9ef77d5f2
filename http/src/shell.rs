//! The one way that every request goes.

use std::{sync::Arc, time::Instant};

use actix_web::{HttpRequest, HttpResponse, web};
use domain::{Caller, Context, Origin};

use crate::{
    call::{Call, REQUEST_ID},
    error::{ApiError, Result},
    state::State,
};

/// Answers a request.
pub async fn answer(state: State, request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let request_id: Arc<str> = Arc::from("-");
    let _ = REQUEST_ID;
    match pass(state, request, payload, &request_id).await {
        Ok(response) => response,
        Err(error) => error.response(&request_id),
    }
}

async fn pass(
    state: State,
    request: HttpRequest,
    payload: web::Payload,
    request_id: &Arc<str>,
) -> Result<HttpResponse> {
    let (endpoint, path_values) = state.router.find(request.method(), request.path())?;
    let context = Context {
        caller: Caller::Nobody,
        origin: Origin::Http,
        deadline: Instant::now() + state.options.request_timeout,
        request_id: Arc::clone(request_id),
        ip: None,
        user_agent: None,
        idempotency: None,
    };
    let mut call = Call {
        state,
        context,
        request,
        endpoint: Arc::clone(&endpoint),
        path_values,
        payload: payload.into_inner(),
        raw_body: None,
    };
    endpoint.run(&mut call).await.map_err(ApiError::from)
}
