//! The listener to which other servers bring mail.

use std::{io, net::TcpListener};

use actors::{
    Services,
    mail::{GateOptions, MailGate},
};
use http_post::{Certificate, CertificateError, Listener, Options};

use crate::config::Config;

/// The certificate that the settings name, if they name one.
pub(crate) fn certificate(config: &Config) -> Result<Option<Certificate>, CertificateError> {
    let settings = &config.mail_server;
    if settings.tls_cert.is_empty() {
        return Ok(None);
    }
    Certificate::read(settings.tls_cert.clone().into(), settings.tls_key.clone().into()).map(Some)
}

/// Takes mail in on this socket.
pub(crate) fn serve(
    config: &Config,
    socket: TcpListener,
    services: &Services,
    certificate: Option<Certificate>,
) -> io::Result<Listener> {
    let settings = &config.mail_server;
    let gate = GateOptions {
        dmarc: settings.dmarc,
        trusted_sealers: settings.trusted_sealers.iter().map(|sealer| sealer.to_ascii_lowercase()).collect(),
    };
    let options = Options {
        certificate,
        // What can't be read was refused with the configuration.
        trusted_networks: settings.trusted_networks.iter().filter_map(|network| network.parse().ok()).collect(),
        spool: config.data.dir.join("spool"),
        shutdown_grace: config.shutdown.grace,
    };
    http_post::serve(socket, options, MailGate::new(services, gate))
}
