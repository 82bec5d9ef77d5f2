//! The baseline of sockets: a bare actix-ws server that passes on to all what one of them says.

use std::{env, process::Command};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use actix_ws::Message;
use bytestring::ByteString;
use parking_lot::Mutex;
use tokio::sync::broadcast;

use super::Host;
use crate::{
    load::Socket,
    report::Result,
    server::{self, Server},
};

/// The hidden argument with which this program serves instead of measuring.
pub const ARGUMENT: &str = "bare-sockets";
/// Messages that a socket may be behind.
const BEHIND_MAX: usize = 256;

/// The running server.
pub struct Bare {
    server: Server,
    /// The socket on which everything is said.
    speaker: Mutex<Socket>,
}

impl Bare {
    pub fn start() -> Result<Self> {
        let server = Server::start(Command::new(env::current_exe()?).arg(ARGUMENT), "API")?;
        let speaker = Mutex::new(Socket::open(server.address(), "/")?);
        Ok(Self { server, speaker })
    }
}

impl Host for Bare {
    fn server(&self) -> &Server {
        &self.server
    }

    fn target(&self) -> Result<String> {
        Ok("/".to_owned())
    }

    fn say(&self, number: usize) -> Result<()> {
        let mut speaker = self.speaker.lock();
        speaker.put_text(&self.mark(number));
        speaker.flush()
    }
}

/// Serves until standard input ends.
pub fn serve() -> Result<()> {
    server::end_with_standard_input();
    let (all, _) = broadcast::channel::<ByteString>(BEHIND_MAX);
    actix_web::rt::System::new().block_on(async {
        let server =
            HttpServer::new(move || App::new().app_data(web::Data::new(all.clone())).route("/", web::get().to(socket)));
        let server = server.tcp_nodelay(true).bind(("127.0.0.1", 0))?;
        for address in server.addrs() {
            println!("API http://{address}/");
        }
        Ok(server.run().await?)
    })
}

async fn socket(
    request: HttpRequest,
    payload: web::Payload,
    all: web::Data<broadcast::Sender<ByteString>>,
) -> actix_web::Result<HttpResponse> {
    let (response, mut session, mut messages) = actix_ws::handle(&request, payload)?;
    let mut heard = all.subscribe();
    actix_web::rt::spawn(async move {
        loop {
            let sent = tokio::select! {
                message = messages.recv() => match message {
                    Some(Ok(Message::Text(text))) => {
                        // Whoever says it hears it too.
                        drop(all.send(text));
                        Ok(())
                    }
                    Some(Ok(Message::Ping(said))) => session.pong(&said).await,
                    Some(Ok(Message::Pong(_))) => Ok(()),
                    _ => return,
                },
                text = heard.recv() => match text {
                    Ok(text) => session.text(text).await,
                    Err(_) => return,
                },
            };
            if sent.is_err() {
                return;
            }
        }
    });
    Ok(response)
}
