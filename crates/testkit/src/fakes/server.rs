//! A fake service on a free port of this machine, for as long as it lives.

use std::net::SocketAddr;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A running fake. Dropping it hangs up on everybody.
#[derive(Debug)]
pub struct FakeServer {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl FakeServer {
    /// Serves these routes.
    pub async fn start(routes: Router) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        #[expect(clippy::disallowed_methods, reason = "a fake is awaited by nobody")]
        let serving = tokio::spawn(async move {
            axum::serve(listener, routes).await.expect("a fake serves until it is dropped");
        });
        Self { address, serving }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it is reached: `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
