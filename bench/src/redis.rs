//! Redis beside us: XADD with `appendfsync always`, the same number of connections and bytes.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::place;
use crate::post;
use crate::stats::{self, Load};

/// A throw-away Redis server.
pub(crate) struct Redis {
    child: Child,
    port: u16,
}

impl Redis {
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let port = place::free_port()?;
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "yes", "--appendfsync", "always", "--dir"])
            .arg(folder)
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start redis-server")?;
        let redis = Self { child, port };
        for _ in 0..2_000 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Ok(redis);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        bail!("redis-server does not answer")
    }

    /// Adds to a thousand streams, over this many connections.
    pub(crate) fn add(&self, connections: usize, count: usize) -> Result<Load> {
        let payload = format!("{}{}{}", post::BODY, post::METADATA, post::key("", 0, 0));
        let cpu = stats::cpu_of(self.child.id());
        let began = stats::now();
        let output = Command::new("redis-benchmark")
            .args(["-p", &self.port.to_string(), "-c", &connections.to_string()])
            .args(["-n", &count.to_string(), "-r", "1000", "--csv"])
            .args(["XADD", "thread:__rand_int__", "*", "message", &payload])
            .output()
            .context("cannot run redis-benchmark")?;
        let seconds = stats::since(began);
        let cpu = stats::cpu_of(self.child.id()) - cpu;
        let text = String::from_utf8_lossy(&output.stdout);
        // The figures stand behind the last quoted name, which holds the payload.
        let line = text.lines().rfind(|line| line.starts_with('"')).unwrap_or_default();
        let cells: Vec<f64> =
            line.rsplit(',').map_while(|cell| cell.trim_matches('"').parse().ok()).collect();
        // From the end: max, p99, p95, p50, min, average, and the rate.
        let [_, p99, _, p50, _, _, rate, ..] = cells.as_slice() else {
            bail!("redis-benchmark said: {text}");
        };
        let mut millis = vec![*p50; 98];
        millis.extend([*p99; 2]);
        let seconds = if *rate > 0.0 { stats::number(count) / rate } else { seconds };
        Ok(Load { count, seconds, millis, cpu })
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It holds nothing that anybody wants back.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
