//! The door: connections, as they are or through TLS, and never more than it can keep.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;

use crate::error::ServeError;
use crate::setup::TlsFiles;

/// Connections at once: fifty viewers have six each at most.
const CONNECTIONS_MAX: usize = 512;

/// The longest wait for a client to come to an agreement on TLS.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How TLS is spoken with this certificate.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ServeError> {
    let wrong = |path: &std::path::Path, detail: String| ServeError::file(path, &detail);
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&files.certificate, error.to_string()))?;
    if certificates.is_empty() {
        return Err(wrong(&files.certificate, "it holds no certificate".into()));
    }
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|error| wrong(&files.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|error| wrong(&files.certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Where connections come in.
#[derive(Debug)]
pub(crate) struct Door {
    come: mpsc::Receiver<(Connection, SocketAddr)>,
    address: SocketAddr,
}

impl Door {
    /// Accepts what comes to `listener`. Who is slow to agree on TLS keeps nobody else.
    pub(crate) fn open(listener: TcpListener, acceptor: Option<TlsAcceptor>) -> Self {
        let address = listener.local_addr().unwrap_or_else(|_| SocketAddr::from(([127, 0, 0, 1], 0)));
        let (ready, come) = mpsc::channel(64);
        tokio::spawn(accept(listener, acceptor, ready));
        Self { come, address }
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    ready: mpsc::Sender<(Connection, SocketAddr)>,
) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let (stream, from) = match listener.accept().await {
            Ok(come) => come,
            Err(_) => {
                // Out of descriptors, mostly: others have to go first.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let (acceptor, ready) = (acceptor.clone(), ready.clone());
        tokio::spawn(async move {
            let stream: Option<Box<dyn Stream>> = match acceptor {
                None => Some(Box::new(stream)),
                Some(acceptor) => agreed(&acceptor, stream).await,
            };
            if let Some(stream) = stream {
                let _ = ready.send((Connection { stream, _permit: permit }, from)).await;
            }
        });
    }
}

async fn agreed(acceptor: &TlsAcceptor, stream: TcpStream) -> Option<Box<dyn Stream>> {
    let agreed = tokio::time::timeout(HANDSHAKE, acceptor.accept(stream)).await;
    agreed.ok()?.ok().map(|stream| Box::new(stream) as Box<dyn Stream>)
}

impl axum::serve::Listener for Door {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.come.recv().await {
            Some(come) => come,
            // The task that accepts ends with the runtime only.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection, and its place among those that are open.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    _permit: OwnedSemaphorePermit,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
