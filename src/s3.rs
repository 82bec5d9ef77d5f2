//! S3's listener, with the access keys that the API's listener remembers.

use std::{
    io,
    net::{IpAddr, TcpListener},
    sync::Arc,
};

use async_trait::async_trait;
use http::{error::ApiError, shell::trace_elsewhere, state::State};
use http_s3::{AccessKey, AccessKeys, Listener, Options, Parts, Trace, Traces};

use crate::config::Config;

/// Serves S3's protocol on this socket.
pub(crate) fn serve(config: &Config, socket: TcpListener, state: &State) -> io::Result<Listener> {
    let options = Options {
        domain: Some(config.s3.domain.clone()).filter(|domain| !domain.is_empty()),
        region: config.aws.region.clone(),
        request_timeout: config.server.request_timeout,
        shutdown_grace: config.shutdown.grace,
        trusted_proxies: config.server.trusted_proxies.clone(),
        console_host: domain::storage::url_host(&state.options.public_url).map(str::to_owned),
    };
    let (keys, traces) = (Arc::new(Remembered(Arc::clone(state))), Arc::new(Chosen(Arc::clone(state))));
    http_s3::serve(socket, options, Parts { store: state.store.clone(), actors: state.actors.clone(), keys, traces })
}

/// The access keys that this node remembers.
struct Remembered(State);

#[async_trait]
impl AccessKeys for Remembered {
    async fn find(&self, id: &str) -> domain::Result<Option<AccessKey>> {
        let Ok(id) = id.parse() else { return Ok(None) };
        let found = self.0.credentials.access_key(id, &self.0.store).await.map_err(domain_error)?;
        let Some(found) = found else { return Ok(None) };
        let Ok(authority) = found.authority() else { return Ok(None) };
        let secret = found.secret.reveal().to_owned();
        Ok(Some(AccessKey { secret, caller: found.caller.clone(), authority }))
    }

    async fn used(&self, id: &str) {
        let Ok(id) = id.parse() else { return };
        if let Ok(Some(found)) = self.0.credentials.access_key(id, &self.0.store).await {
            self.0.credentials.access_key_used(&found, &self.0);
        }
    }

    async fn failed(&self, ip: IpAddr) -> domain::Result<()> {
        self.0.limits.failure_from(&self.0, ip).await.map_err(domain_error)
    }
}

/// The requests that are traced.
struct Chosen(State);

impl Traces for Chosen {
    fn begin(&self, method: &str, parent: Option<&str>, request_id: &str) -> Option<Trace> {
        let tracing = self.0.options.tracing.as_ref()?;
        let (span, place) = trace_elsewhere(tracing, parent, method, request_id)?;
        Some(Trace { span, place: place.to_string() })
    }
}

fn domain_error(error: ApiError) -> domain::Error {
    match error {
        ApiError::Domain(error) => error,
        other => domain::Error::internal(format!("an access key was not looked up: {other:?}")),
    }
}
