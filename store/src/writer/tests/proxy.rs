//! A way to the database that can be cut.

use std::sync::Arc;

use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};

pub struct Proxy {
    url: String,
    is_open: watch::Sender<bool>,
}

impl Proxy {
    /// In front of the server of `url`. It ends with the runtime that it was made on.
    pub async fn start(url: &str) -> Self {
        let after_user = url.find('@').expect("the URL names a user") + 1;
        let target = url[after_user..].split('/').next().expect("the URL names a host").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let address = listener.local_addr().expect("has an address");
        let url = url.replacen(&target, &address.to_string(), 1);
        let (target, is_open) = (Arc::<str>::from(target), watch::Sender::new(true));
        let open = is_open.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                tokio::spawn(connect(near, Arc::clone(&target), open.subscribe()));
            }
        });
        Self { url, is_open }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Breaks every connection, and each new one: the port stays this way's own.
    pub fn cut(&self) {
        self.is_open.send_replace(false);
    }

    /// Lets connections through again.
    pub fn mend(&self) {
        self.is_open.send_replace(true);
    }
}

async fn connect(mut near: TcpStream, target: Arc<str>, mut open: watch::Receiver<bool>) {
    let carrying = async {
        if let Ok(mut far) = TcpStream::connect(&*target).await {
            // Who hangs up, hangs up on both.
            drop(tokio::io::copy_bidirectional(&mut near, &mut far).await);
        }
    };
    tokio::select! {
        biased;
        _ = open.wait_for(|open| !open) => {}
        () = carrying => {}
    }
}
