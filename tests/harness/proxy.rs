//! A way to a database or a Redis, which a test cuts or holds up.

use std::sync::Arc;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// What is carried at once, in bytes.
const CARRIED: usize = 64 * 1024;

/// A way that can be cut. It ends with the runtime that it was made on.
#[derive(Clone, Debug)]
pub struct Proxy {
    url: String,
    way: watch::Sender<Way>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Open,
    /// Connections stand, new ones are taken, and nothing is carried.
    HeldUp,
    /// Connections are broken, and new ones broken at once: the port stays this way's own.
    Cut,
}

impl Proxy {
    /// In front of the server of `url`.
    pub async fn start(url: &str) -> Self {
        let start = url.find("://").expect("a scheme") + 3;
        let start = url[start..].find('@').map_or(start, |user| start + user + 1);
        let end = url[start..].find(['/', '?']).map_or(url.len(), |end| start + end);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (target, way) = (Arc::<str>::from(&url[start..end]), watch::Sender::new(Way::Open));
        let open = way.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(connect(near, Arc::clone(&target), open.clone()));
            }
        });
        Self { url: format!("{}{address}{}", &url[..start], &url[end..]), way }
    }

    /// The server's URL, by this way.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Breaks every connection, and each new one.
    pub fn cut(&self) {
        self.way.send_replace(Way::Cut);
    }

    /// Carries nothing any more.
    pub fn hold_up(&self) {
        self.way.send_replace(Way::HeldUp);
    }

    /// Lets everything through again.
    pub fn mend(&self) {
        self.way.send_replace(Way::Open);
    }
}

async fn connect(near: TcpStream, target: Arc<str>, way: watch::Sender<Way>) {
    let mut cut = way.subscribe();
    let carrying = async {
        let Ok(far) = TcpStream::connect(&*target).await else { return };
        for stream in [&near, &far] {
            stream.set_nodelay(true).expect("a connection");
        }
        let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
        // Who hangs up, hangs up on both.
        tokio::select! {
            () = carry(near_in, far_out, way.subscribe()) => {}
            () = carry(far_in, near_out, way.subscribe()) => {}
        }
    };
    tokio::select! {
        biased;
        _ = cut.wait_for(|way| *way == Way::Cut) => {}
        () = carrying => {}
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut way: watch::Receiver<Way>) {
    let mut buffer = vec![0; CARRIED];
    loop {
        let Ok(len @ 1..) = from.read(&mut buffer).await else { return };
        if way.wait_for(|way| *way == Way::Open).await.is_err() || to.write_all(&buffer[..len]).await.is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn what_is_held_up_arrives_later_and_what_is_cut_ends() {
    let echo = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("redis://{}", echo.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = echo.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                drop(tokio::io::copy(&mut from, &mut to).await);
            });
        }
    });
    let proxy = Proxy::start(&url).await;
    let address = proxy.url().trim_start_matches("redis://").to_owned();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    let mut heard = [0; 5];
    proxy.hold_up();
    stream.write_all(b"later").await.unwrap();
    proxy.mend();
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"later");
    proxy.cut();
    assert!(matches!(stream.read(&mut heard).await, Ok(0) | Err(_)));
    let mut refused = TcpStream::connect(&address).await.unwrap();
    assert!(matches!(refused.read(&mut heard).await, Ok(0) | Err(_)));
    proxy.mend();
    let mut stream = TcpStream::connect(&address).await.unwrap();
    stream.write_all(b"again").await.unwrap();
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"again");
}
