//! The baseline of HTTP: a bare actix-web handler, on as many workers as the program has, in a process of its own.

use std::{env, process::Command};

use actix_web::{App, HttpResponse, HttpServer, web};

use super::Server;
use crate::report::Result;

/// The hidden argument with which this program serves instead of measuring.
pub const ARGUMENT: &str = "hello-server";
/// What the handler answers to every request.
const BODY: &str = r#"{"hello":"world"}"#;

/// Starts the server.
pub fn start() -> Result<Server> {
    Server::start(Command::new(env::current_exe()?).arg(ARGUMENT), "API")
}

/// Serves until standard input ends.
pub fn serve() -> Result<()> {
    super::end_with_standard_input();
    actix_web::rt::System::new().block_on(async {
        let server = HttpServer::new(|| App::new().route("/", web::get().to(hello)));
        let server = server.tcp_nodelay(true).bind(("127.0.0.1", 0))?;
        for address in server.addrs() {
            println!("API http://{address}/");
        }
        Ok(server.run().await?)
    })
}

async fn hello() -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(BODY)
}
