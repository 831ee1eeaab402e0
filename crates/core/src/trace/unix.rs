//! Unix sockets as ends of connections: they are given addresses, so that code which distinguishes
//! connections of the network distinguishes these too.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::Trace;

/// The first half of addresses that represent Unix sockets: the prefix to which nothing is ever sent (RFC 6666).
const UNIX_PREFIX: u128 = 0x0100 << 112;
/// The bit that is set for the end that makes a connection over a Unix socket, and not for the one that listens.
const UNIX_CLIENT: u128 = 1 << 63;
/// The port of the address of a Unix socket that listens; no server of the network has it (`tcpmux`).
const UNIX_PORT: u16 = 1;
/// The first of the ports of the ends that make connections, and how many there are: those that Linux gives.
const UNIX_CLIENT_PORTS: (u16, u16) = (32_768, 28_232);

/// The address that represents a Unix socket that listens at a path, so that its connections are distinguished as
/// those of the network are.
pub fn unix_server(path: &str) -> SocketAddr {
    // FNV-1a: the same for the same path in every run.
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let ip = UNIX_PREFIX | (u128::from(hash) & !UNIX_CLIENT);
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(ip)), UNIX_PORT)
}

/// The address that represents the end that made a connection over a Unix socket, by its inode.
pub fn unix_client(inode: u32) -> SocketAddr {
    let ip = UNIX_PREFIX | UNIX_CLIENT | u128::from(inode);
    let (first, count) = UNIX_CLIENT_PORTS;
    let port = first + (inode % u32::from(count)) as u16;
    SocketAddr::new(IpAddr::V6(Ipv6Addr::from(ip)), port)
}

/// Whether an address represents a Unix socket.
pub fn is_unix(address: SocketAddr) -> bool {
    match address.ip() {
        IpAddr::V6(ip) => u128::from(ip) >> 64 == UNIX_PREFIX >> 64,
        IpAddr::V4(_) => false,
    }
}

/// Whether an address represents a Unix socket that listens.
pub fn is_unix_server(address: SocketAddr) -> bool {
    is_unix(address) && address.port() == UNIX_PORT
}

impl Trace {
    /// An address for people: a path if it represents one.
    pub fn address(&self, address: SocketAddr) -> String {
        match self.unix_paths.get(&address.ip()) {
            Some(path) => path.clone(),
            None if is_unix(address) => "a Unix socket".to_owned(),
            None => address.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unix_sockets_have_addresses_that_nobody_else_has() {
        let (server, other) = (unix_server("/run/db.sock"), unix_server("/run/cache.sock"));
        let client = unix_client(4_294_967_295);
        for address in [server, other, client] {
            assert!(is_unix(address), "{address}");
        }
        assert!(server != other && server.ip() != client.ip());
        assert!(!is_unix(SocketAddr::from(([127, 0, 0, 1], 1))));
        assert!(!is_unix("[::1]:1".parse().unwrap()));
        assert!(client.port() >= 32_768 && client.port() < 61_000);
        let trace = Trace {
            unix_paths: [(server.ip(), "/run/db.sock".to_owned())].into(),
            ..Trace::default()
        };
        assert_eq!(trace.address(server), "/run/db.sock");
        assert_eq!(trace.address(client), "a Unix socket");
        assert_eq!(trace.address("[::1]:1".parse().unwrap()), "[::1]:1");
    }
}
