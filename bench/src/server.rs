//! The program as it is released, running on a data folder.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::place::{self, Place};
use crate::stats;

/// The limits that a measurement raises, and nothing else.
pub(crate) const LIMITS: &str = "posts_per_second = 1000000, posts_burst = 1000000, \
    calls_per_second = 1000000, calls_burst = 1000000, agent_turns_max = 0, \
    connections_per_agent_max = 1000000";

const READY_SECONDS_MAX: f64 = 60.0;

/// A running process that is stopped with whoever holds it.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// From the start to the first durable write, in milliseconds.
    pub(crate) ready_ms: f64,
}

impl Server {
    /// Starts the program on a data folder and waits until it is ready.
    pub(crate) fn start(place: &Place, folder: &Path) -> Result<Self> {
        let config = format!("limits = {{ {LIMITS} }}\nlog = {{ filter = \"warn\" }}\n");
        std::fs::write(folder.join("config.toml"), config)?;
        let mut command = Command::new(place.program()?);
        let port = place::free_port()?;
        command.arg("--data").arg(folder).args(["up", "--port", &port.to_string()]);
        Self::run(command, &folder.join("server.log"), port, "/readyz")
    }

    /// Starts any HTTP server and waits until a path answers.
    pub(crate) fn run(mut command: Command, log: &Path, port: u16, path: &str) -> Result<Self> {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let log = File::create(log)?;
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let began = stats::now();
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let mut server = Self { child, address, ready_ms: 0.0 };
        while !answers(address, path) {
            if stats::since(began) > READY_SECONDS_MAX || server.child.try_wait()?.is_some() {
                bail!("{command:?} did not become ready");
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        server.ready_ms = stats::since(began) * 1e3;
        Ok(server)
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn cpu(&self) -> f64 {
        stats::cpu_of(self.process())
    }

    /// Asks it to stop and waits.
    pub(crate) fn stop(mut self) -> Result<()> {
        let asked = Command::new("kill").arg(self.process().to_string()).status()?;
        if !asked.success() || !self.child.wait()?.success() {
            bail!("the server did not stop in order");
        }
        Ok(())
    }

    /// Ends it as a power failure would end a process.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended already when it was stopped.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Whether a path answers with 200, or with anything at all when it is `/`.
fn answers(address: SocketAddr, path: &str) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect(address)?;
        let head = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        Ok::<_, std::io::Error>(path == "/" || answer.ends_with(b"200"))
    };
    ask().unwrap_or(false)
}
