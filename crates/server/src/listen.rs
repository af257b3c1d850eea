//! Sockets: TCP and unix, bound before anything is served.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

use crate::place::Place;
use crate::settings::Mode;

/// Other sides that have silently gone are noticed after a minute and a half.
const PROBE: Duration = Duration::from_secs(60);

/// A socket that takes connections.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

/// A connection that came in.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Listener {
    /// Binds a place.
    pub(crate) async fn bind(place: &Place, mode: Mode) -> io::Result<Self> {
        let told = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot listen on {place}: {error}"))
        };
        match place {
            Place::Tcp(host, port) => TcpListener::bind((host.as_str(), *port))
                .await
                .map(Self::Tcp)
                .map_err(told),
            Place::Unix(path) => {
                forget_stale(path).map_err(told)?;
                let listener = UnixListener::bind(path).map_err(told)?;
                fs::set_permissions(path, fs::Permissions::from_mode(mode.0)).map_err(told)?;
                Ok(Self::Unix(listener, path.clone()))
            }
        }
    }

    /// Where it listens, with the port that the system chose.
    pub(crate) fn place(&self) -> io::Result<Place> {
        Ok(match self {
            Self::Tcp(listener) => {
                let address = listener.local_addr()?;
                Place::Tcp(address.ip().to_string(), address.port())
            }
            Self::Unix(_, path) => Place::Unix(path.clone()),
        })
    }

    /// The next connection, and from which address it comes.
    pub(crate) async fn accept(&self) -> io::Result<(Stream, Option<IpAddr>)> {
        match self {
            Self::Tcp(listener) => {
                let (stream, from) = listener.accept().await?;
                stream.set_nodelay(true)?;
                SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(PROBE))?;
                Ok((Stream::Tcp(stream), Some(from.ip().to_canonical())))
            }
            Self::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Stream::Unix(stream), None))
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // Somebody may have removed it already.
            let _ = fs::remove_file(path);
        }
    }
}

/// Removes a socket that a server left behind when it was killed.
fn forget_stale(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "there is a file of that name",
            ));
        }
        Ok(_) => {}
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        _ => Err(io::ErrorKind::AddrInUse.into()),
    }
}

/// Does the same with either kind of connection.
macro_rules! either {
    ($self:ident, $inner:ident => $do:expr) => {
        match $self.get_mut() {
            Stream::Tcp(stream) => {
                let $inner = Pin::new(stream);
                $do
            }
            Stream::Unix(stream) => {
                let $inner = Pin::new(stream);
                $do
            }
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, inner => inner.poll_read(cx, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self, inner => inner.poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => inner.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, inner => inner.poll_shutdown(cx))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self, inner => inner.poll_write_vectored(cx, parts))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}
