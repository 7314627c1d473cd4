//! Accepts connections, with or without TLS, within the connection limits.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::IncomingStream;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use crate::connection::{ClientStream, ConnectionLimits, ConnectionSlot, ConnectionSlots, WebConnection};
use crate::error::ServeError;
use crate::setup::TlsFiles;

/// Creates the TLS acceptor for this certificate.
pub(crate) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ServeError> {
    let wrong = |path: &std::path::Path, detail: String| ServeError::file(path, &detail);
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(&files.certificate, error.to_string()))?;
    if certificates.is_empty() {
        return Err(wrong(&files.certificate, "it contains no certificate".into()));
    }
    let key =
        PrivateKeyDer::from_pem_file(&files.key).map_err(|error| wrong(&files.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|error| wrong(&files.certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The source of accepted connections.
#[derive(Debug)]
pub(crate) struct ClientListener {
    come: mpsc::Receiver<WebConnection>,
    address: SocketAddr,
}

impl ClientListener {
    /// Accepts connections of `listener`. A client with a slow TLS handshake does not delay others.
    pub(crate) fn open(
        listener: TcpListener,
        acceptor: Option<TlsAcceptor>,
        limits: ConnectionLimits,
    ) -> Self {
        let address = listener.local_addr().unwrap_or_else(|_| SocketAddr::from(([127, 0, 0, 1], 0)));
        let (ready, come) = mpsc::channel(64);
        tokio::spawn(accept(listener, acceptor, limits, ready));
        Self { come, address }
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    limits: ConnectionLimits,
    ready: mpsc::Sender<WebConnection>,
) {
    let places = ConnectionSlots::new(limits);
    loop {
        let (stream, from) = match listener.accept().await {
            Ok(come) => come,
            Err(_) => {
                // Usually no file descriptor is free; other connections have to end first.
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // All connections are being answered. This client sees its connection closed, and can retry.
        let Some(place) = places.take(from) else { continue };
        let _ = stream.set_nodelay(true);
        let (acceptor, ready) = (acceptor.clone(), ready.clone());
        tokio::spawn(async move {
            let stream: Option<Box<dyn ClientStream>> = match acceptor {
                None => Some(Box::new(stream)),
                // A client that stalls here can also lose its slot and its socket to others.
                Some(acceptor) => tokio::select! {
                    agreed = agreed(&acceptor, stream, limits.handshake) => agreed,
                    () = place.place.evicted() => None,
                },
            };
            if let Some(stream) = stream {
                let _ = ready.send(WebConnection::new(stream, place)).await;
            }
        });
    }
}

async fn agreed(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
    patience: Duration,
) -> Option<Box<dyn ClientStream>> {
    let agreed = tokio::time::timeout(patience, acceptor.accept(stream)).await;
    agreed.ok()?.ok().map(|stream| Box::new(stream) as Box<dyn ClientStream>)
}

impl axum::serve::Listener for ClientListener {
    type Io = WebConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.come.recv().await {
            Some(connection) => {
                let peer = connection.slot().peer;
                (connection, peer)
            }
            // The accepting task ends only with the runtime.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

/// The connection on which a request arrived.
#[derive(Debug, Clone)]
pub(crate) struct Client(pub(crate) Arc<ConnectionSlot>);

impl Connected<IncomingStream<'_, ClientListener>> for Client {
    fn connect_info(stream: IncomingStream<'_, ClientListener>) -> Self {
        Self(Arc::clone(stream.io().slot()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[test]
    fn stalled_tls_handshakes_release_their_sockets() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let acceptor = acceptor(&TlsFiles { certificate, key }).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let handshake = Duration::from_secs(3_600);
            let limits = ConnectionLimits { connections_max: 1, handshake, ..ConnectionLimits::default() };
            let _door = ClientListener::open(listener, Some(acceptor), limits);
            let mut first = TcpStream::connect(address).await.unwrap();
            let _second = TcpStream::connect(address).await.unwrap();
            // The second client takes the slot of the first, whose handshake could last an hour.
            let end = tokio::time::timeout(Duration::from_secs(60), first.read_u8()).await;
            assert!(end.expect("its socket is still open").is_err());
        });
    }
}
