//! Whatever may stand between a program and its hub, and may answer or hang up in the hub's place.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// What becomes of a request.
pub(crate) enum Verdict {
    /// The hub gets it.
    Pass,
    /// This is said in the hub's place.
    Say(&'static [u8]),
    /// The hub gets it, and its answer gets lost.
    Lose,
}

type Judge = dyn Fn(&[u8]) -> Verdict + Send + Sync;

/// Stands before a hub until the test ends; `judge` looks at each piece that is sent to it. Answers
/// where it listens.
pub(crate) fn before(
    hub: &str,
    judge: impl Fn(&[u8]) -> Verdict + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (hub, judge): (String, Arc<Judge>) = (hub.to_owned(), Arc::new(judge));
    thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            // A hub that is away is seen by its clients as one that hangs up.
            let Ok(server) = TcpStream::connect(&hub) else { continue };
            let judge = Arc::clone(&judge);
            thread::spawn(move || carry(client, server, &*judge));
        }
    });
    url
}

fn carry(mut client: TcpStream, mut server: TcpStream, judge: &Judge) {
    let (mut answers, mut answered) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    thread::spawn(move || {
        // Whoever ends first ends both.
        drop(std::io::copy(&mut answers, &mut answered));
        drop(answered.shutdown(Shutdown::Both));
    });
    let mut piece = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = client.read(&mut piece) {
        let said = match judge(&piece[..count]) {
            Verdict::Pass if server.write_all(&piece[..count]).is_ok() => continue,
            Verdict::Pass => break,
            Verdict::Say(said) => client.write_all(said),
            Verdict::Lose => {
                drop(client.shutdown(Shutdown::Both));
                server.write_all(&piece[..count])
            }
        };
        drop(said);
        break;
    }
    drop(client.shutdown(Shutdown::Both));
    drop(server.shutdown(Shutdown::Write));
}
