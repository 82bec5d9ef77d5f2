//! The listeners to which other servers and people's mail clients bring mail.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
};

use actors::mail::{GateOptions, MailGate};
use http_post::{Certificate, CertificateError, Listener, Options, Room, Submissions};

use crate::{config::Config, program::Parts};

/// The certificate that the settings name, if they name one.
pub(crate) fn certificate(config: &Config) -> Result<Option<Arc<Certificate>>, CertificateError> {
    let settings = &config.mail_server;
    if settings.tls_cert.is_empty() {
        return Ok(None);
    }
    let certificate = Certificate::read(settings.tls_cert.clone().into(), settings.tls_key.clone().into())?;
    Ok(Some(Arc::new(certificate)))
}

/// Sockets for mail, each where the settings say.
pub(crate) struct Sockets {
    smtp: Option<TcpListener>,
    submissions: Option<TcpListener>,
    submission: Option<TcpListener>,
}

impl Sockets {
    /// Takes them.
    pub fn bind(config: &Config) -> io::Result<Self> {
        let bind = |address: Option<SocketAddr>| address.map(TcpListener::bind).transpose();
        Ok(Self {
            smtp: bind(config.smtp_listen())?,
            submissions: bind(config.submissions_listen())?,
            submission: bind(config.submission_listen())?,
        })
    }

    /// Takes mail in on them.
    pub fn serve(self, config: &Config, parts: &Parts, certificate: Option<Arc<Certificate>>) -> io::Result<Listeners> {
        let settings = &config.mail_server;
        let gate = GateOptions {
            dmarc: settings.dmarc,
            trusted_sealers: settings.trusted_sealers.iter().map(|sealer| sealer.to_ascii_lowercase()).collect(),
        };
        let gate = || MailGate::new(&parts.services, gate.clone());
        let options = Options {
            certificate,
            // What can't be read was refused with the configuration.
            trusted_networks: settings.trusted_networks.iter().filter_map(|network| network.parse().ok()).collect(),
            room: Room::default(),
            spool: config.data.dir.join("spool"),
            shutdown_grace: config.shutdown.grace,
        };
        let clients = |socket: Option<TcpListener>, is_secure_first| {
            let (actors, store) = (parts.actors.clone(), parts.store.clone());
            let submissions = Submissions { actors, store, is_secure_first };
            socket.map(|socket| http_post::serve_submissions(socket, options.clone(), gate(), submissions)).transpose()
        };
        Ok(Listeners {
            submissions: clients(self.submissions, true)?,
            submission: clients(self.submission, false)?,
            smtp: self.smtp.map(|socket| http_post::serve(socket, options.clone(), gate())).transpose()?,
        })
    }
}

/// Where mail is brought.
#[derive(Debug)]
pub struct Listeners {
    /// By other servers, if anywhere.
    pub smtp: Option<Listener>,
    /// By mail clients over TLS, if anywhere.
    pub submissions: Option<Listener>,
    /// By mail clients that turn to TLS, if anywhere.
    pub submission: Option<Listener>,
}

impl Listeners {
    /// Stops them, all at once.
    pub(crate) async fn stop(self) {
        let stop = async |listener: Option<Listener>| {
            if let Some(listener) = listener {
                listener.stop().await;
            }
        };
        tokio::join!(stop(self.smtp), stop(self.submissions), stop(self.submission));
    }
}
