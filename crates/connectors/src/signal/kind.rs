//! What linking Signal takes.

use std::sync::Arc;

use connector_api::toolkit::HttpClient;
use connector_api::{Connector, ConnectorKind, Field, LinkSettings, Result};

use super::connector::SignalConnector;
use super::endpoint::Endpoint;

/// Signal, through a signal-cli daemon.
#[derive(Clone, Copy, Debug)]
pub struct Signal;

const FIELDS: &[Field] = &[
    Field {
        name: "base_url",
        prompt: "Where does the signal-cli daemon listen?",
        help: "http://127.0.0.1:8080, tcp:127.0.0.1:7583 or unix:/run/user/1000/signal-cli/socket.",
        default: Some("http://127.0.0.1:8080"),
        is_secret: false,
    },
    Field {
        name: "account",
        prompt: "Which account of the daemon, as +4915112345678?",
        help: "Leave it empty if the daemon serves one account only.",
        default: Some(""),
        is_secret: false,
    },
];

const GUIDE: &str = "\
1. Install signal-cli (https://github.com/AsamK/signal-cli, version 0.13 or later).
2. Link it to your Signal account as a further device: run `signal-cli link -n waystation`, show \
the address it prints as a QR code (`qrencode -t ANSIUTF8`), and scan it on your telephone under \
Settings, Linked devices.
3. Run the daemon on this machine, as the user who linked it: \
`signal-cli -a +4915112345678 daemon --http 127.0.0.1:8080 --receive-mode manual`. \
With `manual`, Signal keeps your messages while the hub is away; with the default, the daemon \
fetches them and they are lost to the hub.
4. Never let it listen on anything but this machine (loopback, or a socket only you can open): the \
daemon asks nobody who they are, and whoever reaches it reads and writes in your name.
The archive begins now: Signal hands no history to linked devices.";

impl ConnectorKind for Signal {
    fn service(&self) -> &'static str {
        "signal"
    }

    fn title(&self) -> &'static str {
        "Signal"
    }

    fn guide(&self) -> &'static str {
        GUIDE
    }

    fn fields(&self) -> &'static [Field] {
        FIELDS
    }

    fn connect(&self, settings: &LinkSettings, http: HttpClient) -> Result<Arc<dyn Connector>> {
        let endpoint = Endpoint::parse(settings.text("base_url"))?;
        Ok(Arc::new(SignalConnector::new(endpoint, settings.text("account"), http)))
    }
}
