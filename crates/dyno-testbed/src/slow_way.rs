//! A proxy that delays each direction of a connection by its own time, like a long network, for kernels that
//! cannot delay packets.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Forwards connections to a server and delays all data.
#[derive(Debug)]
pub struct DelayProxy {
    address: SocketAddr,
    is_stopped: Arc<AtomicBool>,
}

impl DelayProxy {
    /// Listens at `at` in front of the server at `upstream`; delays data to the server by `request_delay` and its
    /// answers by `response_delay`.
    ///
    /// # Panics
    /// The address is not available.
    pub fn start(
        at: IpAddr,
        upstream: SocketAddr,
        request_delay: Duration,
        response_delay: Duration,
    ) -> Self {
        let listener = TcpListener::bind((at, 0)).expect("an address of this machine, and any port");
        let address = listener.local_addr().expect("it listens");
        let over = Arc::new(AtomicBool::new(false));
        let its_over = Arc::clone(&over);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if its_over.load(Ordering::Acquire) {
                    return;
                }
                // If the server is down, this connection is closed as well.
                let Ok(server) = TcpStream::connect(upstream) else { continue };
                let ends = client.try_clone().and_then(|client| Ok((client, server.try_clone()?)));
                let Ok((from_client, to_server)) = ends else { continue };
                forward_delayed(from_client, to_server, request_delay);
                forward_delayed(server, client, response_delay);
            }
        });
        Self { address, is_stopped: over }
    }

    /// Address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for DelayProxy {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Release);
        // Wakes the accepting thread, which then ends.
        let _ = TcpStream::connect(self.address);
    }
}

/// Forwards one direction. Data read while earlier data waits is delayed by the same time, not longer.
fn forward_delayed(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    // Nagle's algorithm would delay packets by another 40 ms.
    let _ = from.set_nodelay(true).and_then(|()| to.set_nodelay(true));
    let (give, taken) = channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut buffer = [0; 16 * 1024];
        while let Ok(bytes @ 1..) = from.read(&mut buffer) {
            if give.send((Instant::now() + delay, buffer[..bytes].to_vec())).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for (due, bytes) in taken {
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_proxy_keeps_order_and_delay() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (there, back) = (Duration::from_millis(30), Duration::from_millis(50));
        let way =
            DelayProxy::start("127.0.0.1".parse().unwrap(), listener.local_addr().unwrap(), there, back);
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut echoed = stream.try_clone().unwrap();
            std::io::copy(&mut stream, &mut echoed).unwrap();
            echoed.shutdown(Shutdown::Write).unwrap();
        });
        let mut client = TcpStream::connect(way.address()).unwrap();
        let began = Instant::now();
        let payload: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        let mut received = Vec::new();
        std::thread::scope(|scope| {
            let mut speaks = client.try_clone().unwrap();
            let outgoing = &payload;
            scope.spawn(move || {
                speaks.write_all(outgoing).unwrap();
                speaks.shutdown(Shutdown::Write).unwrap();
            });
            client.read_to_end(&mut received).unwrap();
        });
        assert!(began.elapsed() >= there + back);
        assert_eq!(received, payload);
    }
}
