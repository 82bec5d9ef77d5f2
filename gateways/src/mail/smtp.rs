//! E-mail over a mail server.

use std::{sync::Arc, time::Duration};

use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    address::Envelope,
    message::{Mailbox, MultiPart, SinglePart, header::ContentType},
    transport::smtp::{
        Error as SmtpError, PoolConfig,
        authentication::Credentials,
        client::{Tls, TlsParameters},
    },
};
use tokio::{sync::Semaphore, time::timeout};

use super::{
    CalendarPart, Delivered, Email, MailOptionsError, SendError, SmtpOptions, SmtpSecurity, address, recipient,
};

/// A connection that was not used for this long is closed; servers give up after five minutes.
const IDLE_TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Clone)]
pub(super) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    timeout: Duration,
    /// lettre bounds the connections that it keeps, not those that it opens.
    conversations: Arc<Semaphore>,
}

impl Smtp {
    pub(super) fn new(options: &SmtpOptions) -> Result<Self, MailOptionsError> {
        let from: Mailbox = options.from.parse().map_err(|_| MailOptionsError::From(options.from.clone()))?;
        let pool = PoolConfig::new().max_size(options.connections_max).idle_timeout(IDLE_TIMEOUT);
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&options.host)
            .port(options.port)
            .tls(tls(options)?)
            .timeout(Some(options.timeout))
            .pool_config(pool);
        if let Some(credentials) = &options.credentials {
            builder = builder.credentials(Credentials::new(credentials.user.clone(), credentials.password.clone()));
        }
        let conversations = Arc::new(Semaphore::new(options.connections_max.max(1) as usize));
        Ok(Self { transport: builder.build(), from, timeout: options.timeout, conversations })
    }

    pub(super) async fn send(&self, email: &Email) -> Result<Delivered, SendError> {
        let message = self.message(email)?;
        let response = self.within(self.transport.send(message)).await?;
        Ok(Delivered::Sent { response: response.message().collect::<Vec<_>>().join(" ") })
    }

    pub(super) async fn send_written(&self, to: &str, message: &[u8]) -> Result<Delivered, SendError> {
        let envelope = Envelope::new(Some(self.from.email.clone()), vec![address(to)?.email]);
        let envelope = envelope.map_err(|error| SendError::Permanent(error.to_string()))?;
        let response = self.within(self.transport.send_raw(&envelope, message)).await?;
        Ok(Delivered::Sent { response: response.message().collect::<Vec<_>>().join(" ") })
    }

    pub(super) fn sender(&self) -> String {
        self.from.email.to_string()
    }

    pub(super) async fn check(&self) -> Result<(), SendError> {
        if self.within(self.transport.test_connection()).await? {
            Ok(())
        } else {
            Err(SendError::Temporary("the mail server does not answer".into()))
        }
    }

    fn message(&self, email: &Email) -> Result<Message, SendError> {
        // A line break in a subject would start another header; lettre encodes it, people would read it.
        let subject = email.subject.split_whitespace().collect::<Vec<_>>().join(" ");
        let builder = Message::builder()
            .from(self.from.clone())
            .to(recipient(email)?)
            .subject(subject)
            .message_id(Some(format!("<{}@{}>", email.idempotency_key, self.from.email.domain())));
        let message = match &email.calendar {
            None => builder.header(ContentType::TEXT_PLAIN).body(email.text.clone()),
            Some(calendar) => {
                let organizer = address(&calendar.reply_to)?;
                builder.reply_to(organizer).multipart(with_calendar(&email.text, calendar)?)
            }
        };
        message.map_err(|error| SendError::Permanent(error.to_string()))
    }

    async fn within<T>(&self, operation: impl Future<Output = Result<T, SmtpError>>) -> Result<T, SendError> {
        let _permit = self.conversations.acquire().await.map_err(|error| SendError::Temporary(error.to_string()))?;
        match timeout(self.timeout, operation).await {
            Ok(done) => done.map_err(|error| send_error(&error)),
            Err(_) => Err(SendError::Temporary("the mail server did not answer in time".into())),
        }
    }
}

/// The text, and beside it what a calendar reads of the same (RFC 6047, 2.4).
fn with_calendar(text: &str, calendar: &CalendarPart) -> Result<MultiPart, SendError> {
    let kind = format!("text/calendar; method={}; charset=utf-8", calendar.method);
    let kind = ContentType::parse(&kind).map_err(|error| SendError::Permanent(error.to_string()))?;
    let file = SinglePart::builder().header(kind).body(calendar.file.clone());
    Ok(MultiPart::alternative().singlepart(SinglePart::plain(text.to_owned())).singlepart(file))
}

fn tls(options: &SmtpOptions) -> Result<Tls, MailOptionsError> {
    let parameters = || {
        TlsParameters::new(options.host.clone())
            .map_err(|error| MailOptionsError::Tls { host: options.host.clone(), reason: error.to_string() })
    };
    Ok(match options.security {
        SmtpSecurity::Tls => Tls::Wrapper(parameters()?),
        SmtpSecurity::StartTls => Tls::Required(parameters()?),
        SmtpSecurity::None => Tls::None,
    })
}

/// A 5xx answer is for good, unless it is about our sign-in: that is an operator's to mend, and the e-mail should go out
/// when it is.
fn send_error(error: &SmtpError) -> SendError {
    let text = error.to_string();
    let about_sign_in = error.status().is_some_and(|code| matches!(u16::from(code), 530 | 534 | 535 | 538));
    if error.is_permanent() && !about_sign_in { SendError::Permanent(text) } else { SendError::Temporary(text) }
}
