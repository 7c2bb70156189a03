//! A keeper's socket: for its user alone, and at any depth of folders.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Paths up to this length fit into a socket's address.
const PATH_BYTES_MAX: usize = 100;

/// Listens at a path; whatever was there before is gone.
pub fn bind(path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = at(path, |path| UnixListener::bind(path))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Connects to a keeper.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    at(path, |path| UnixStream::connect(path))
}

/// Whether the other end belongs to the same user.
pub fn is_own(stream: &UnixStream) -> bool {
    rustix::net::sockopt::socket_peercred(stream)
        .is_ok_and(|peer| peer.uid == rustix::process::geteuid())
}

/// Long paths are named through an open folder: the kernel's addresses are short.
fn at<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return act(path) };
    if path.as_os_str().len() <= PATH_BYTES_MAX {
        return act(path);
    }
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty())?;
    act(&Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_may_lie_deep() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(90)).join("e".repeat(90));
        std::fs::create_dir_all(&deep).unwrap();
        let path = deep.join("keeper.sock");
        let listener = bind(&path).unwrap();
        let stream = connect(&path).unwrap();
        assert!(is_own(&stream));
        assert!(listener.accept().is_ok());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
