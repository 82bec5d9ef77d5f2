//! A server that hears requests over HTTP/1.1 and HTTP/2, and answers as a test says.

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, Version, body::Bytes, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use tokio::{net::TcpListener, task::JoinHandle};

/// One request.
#[derive(Clone, Debug)]
pub struct Heard {
    pub method: String,
    pub path: String,
    pub query: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
    pub is_http2: bool,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
    pub after: Duration,
}

pub struct Service {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    task: JoinHandle<()>,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), after: Duration::ZERO }
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Longer than anybody waits.
    pub fn never() -> Self {
        Self { after: Duration::from_secs(3600), ..Self::new(200, "") }
    }
}

impl Heard {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The fields of a form.
    pub fn form(&self) -> BTreeMap<String, String> {
        form_urlencoded::parse(&self.body).into_owned().collect()
    }
}

impl Service {
    /// Answers each request with the next of `replies`, and the last one again and again.
    pub async fn replying(replies: impl IntoIterator<Item = Reply>) -> Self {
        let replies: Mutex<VecDeque<Reply>> = Mutex::new(replies.into_iter().collect());
        Self::new(move |_| {
            let mut replies = replies.lock().expect("the lock");
            if replies.len() > 1 { replies.pop_front().expect("a reply") } else { replies[0].clone() }
        })
        .await
    }

    pub async fn new(answer: impl Fn(&Heard) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let task = tokio::spawn(accept(listener, Arc::clone(&heard), Arc::new(answer)));
        Self { address, heard, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().expect("the lock").clone()
    }

    /// The one request that came.
    pub fn only(&self) -> Heard {
        let heard = self.heard();
        assert_eq!(heard.len(), 1, "{heard:?}");
        heard[0].clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Answerer = Arc<dyn Fn(&Heard) -> Reply + Send + Sync>;

async fn accept(listener: TcpListener, heard: Arc<Mutex<Vec<Heard>>>, answer: Answerer) {
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
        tokio::spawn(async move {
            let service = service_fn(move |request| reply(request, Arc::clone(&heard), Arc::clone(&answer)));
            // A client that goes away is no failure of the server.
            let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn reply(
    request: Request<Incoming>,
    heard: Arc<Mutex<Vec<Heard>>>,
    answer: Answerer,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let headers =
        parts.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()));
    let request = Heard {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        headers: headers.collect(),
        body: body.collect().await?.to_bytes().to_vec(),
        is_http2: parts.version == Version::HTTP_2,
    };
    let reply = answer(&request);
    heard.lock().expect("the lock").push(request);
    tokio::time::sleep(reply.after).await;
    let mut response = Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        response = response.header(*name, value);
    }
    Ok(response.body(Full::from(reply.body)).expect("a response"))
}
