//! The listeners: one for clients, and one for operators.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use actix_web::{
    App, HttpServer,
    dev::{Extensions, ServerHandle, Service, ServiceRequest},
    rt::net::TcpStream,
    web,
};
use http_platform::operators;
use http_shell::{
    revocations, shell,
    state::{AppState, State},
};
use tokio::task::JoinHandle;

/// How long an idle connection stays open.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a client may take to send a request's headers.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);
/// How long a connection stays after the last that it was sent, for the client to close it: whoever was still sending reads an
/// answer, and whose WebSocket ended waits for the end of the connection, as the protocol has it, no longer than this.
const CLOSE_WITHIN: Duration = Duration::from_secs(1);
/// How long a peer may leave what was sent to it unacknowledged, or unread.
const UNREAD_WITHIN: Duration = Duration::from_mins(1);
/// Threads for operators' requests.
const OPERATORS_WORKERS: usize = 1;
/// How often the metrics of the past are folded.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// Where clients and operators connect.
pub struct Listeners {
    /// For clients.
    pub clients: TcpListener,
    /// For operators, where there is one.
    pub operators: Option<TcpListener>,
}

/// A running server. Dropping it does not stop it.
pub struct Server {
    state: State,
    address: SocketAddr,
    operators_address: Option<SocketAddr>,
    handles: Vec<ServerHandle>,
    tasks: Vec<JoinHandle<io::Result<()>>>,
}

/// Serves until [`Server::stop`].
///
/// # Errors
/// When a listener can't be used.
pub fn serve(state: &State, listeners: Listeners) -> io::Result<Server> {
    let mut server = Server {
        state: Arc::clone(state),
        address: listeners.clients.local_addr()?,
        operators_address: None,
        handles: Vec::new(),
        tasks: Vec::new(),
    };
    server.run(clients(state, listeners.clients)?);
    if let Some(listener) = listeners.operators {
        server.operators_address = Some(listener.local_addr()?);
        server.run(for_operators(state, listener)?);
    }
    tokio::spawn(revocations::follow(Arc::downgrade(state)));
    tokio::spawn(upkeep(Arc::downgrade(state)));
    Ok(server)
}

fn clients(state: &State, listener: TcpListener) -> io::Result<actix_web::dev::Server> {
    let workers = match state.options.workers {
        0 => std::thread::available_parallelism()?.get(),
        workers => workers,
    };
    let grace = state.options.shutdown_grace;
    let state = Arc::clone(state);
    let factory = move || {
        let (state, waiting) = (Arc::clone(&state), Arc::clone(&state));
        let app = App::new().wrap_fn(move |mut request: ServiceRequest, next| {
            shell::save_room(&waiting, &mut request);
            next.call(request)
        });
        app.default_service(web::to(move |request, payload| shell::answer(Arc::clone(&state), request, payload)))
    };
    Ok(HttpServer::new(factory)
        .workers(workers)
        .tcp_nodelay(true)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEADERS_WITHIN)
        .client_disconnect_timeout(CLOSE_WITHIN)
        .shutdown_timeout(grace.as_secs().max(1))
        .on_connect(drop_when_unread)
        .disable_signals()
        .listen(listener)?
        .run())
}

fn for_operators(state: &State, listener: TcpListener) -> io::Result<actix_web::dev::Server> {
    let state = Arc::clone(state);
    Ok(HttpServer::new(move || App::new().configure(operators::routes(&state)))
        .workers(OPERATORS_WORKERS)
        .tcp_nodelay(true)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEADERS_WITHIN)
        .disable_signals()
        .shutdown_timeout(1)
        .listen(listener)?
        .run())
}

/// Has the system drop a connection whose peer stops reading.
fn drop_when_unread(connection: &dyn std::any::Any, _: &mut Extensions) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Some(stream) = connection.downcast_ref::<TcpStream>() {
        // A system that can't is left to its own time-outs.
        let _ = socket2::SockRef::from(stream).set_tcp_user_timeout(Some(UNREAD_WITHIN));
    }
}

async fn upkeep(state: std::sync::Weak<AppState>) {
    let mut ticks = tokio::time::interval(UPKEEP_EVERY);
    loop {
        ticks.tick().await;
        let Some(state) = state.upgrade() else { return };
        if let Some(metrics) = &state.metrics {
            metrics.run_upkeep();
        }
    }
}

impl Server {
    fn run(&mut self, server: actix_web::dev::Server) {
        self.handles.push(server.handle());
        self.tasks.push(tokio::spawn(server));
    }

    /// Where clients connect.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where operators connect.
    pub const fn operators_address(&self) -> Option<SocketAddr> {
        self.operators_address
    }

    /// Stops accepting, finishes what is in hand, tells the sockets, and closes within the grace of the options.
    pub async fn stop(self) {
        self.state.shutdown.send_replace(true);
        futures::future::join_all(self.handles.iter().map(|handle| handle.stop(true))).await;
        futures::future::join_all(self.tasks).await;
    }
}
