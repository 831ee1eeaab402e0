//! A server that a sick server asks: a companion process, and a connection to it.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use crate::companion::Companion;
use crate::options::Knob;

/// Where it is, for servers that may be given an existing one.
pub(crate) const KNOB: Knob = Knob {
    flag: "upstream",
    help: "port of what is asked (lab --companion upstream PORT); 0: a process of its own",
    default: 0.0,
    range: (0.0, 65_535.0),
    healthy: None,
};

/// The upstream of a sick server, which ends with it unless it was there before.
pub(crate) struct Upstream {
    port: u16,
    _companion: Option<Companion>,
}

impl Upstream {
    /// Starts it.
    pub(crate) fn start() -> io::Result<Self> {
        let companion = Companion::start(&["collector", "0"])?;
        let port = companion.said.parse().map_err(io::Error::other)?;
        Ok(Self {
            port,
            _companion: Some(companion),
        })
    }

    /// The one at a port; starts one for 0.
    pub(crate) fn at(port: usize) -> io::Result<Self> {
        if port == 0 {
            return Self::start();
        }
        Ok(Self {
            port: u16::try_from(port).map_err(io::Error::other)?,
            _companion: None,
        })
    }

    /// A connection to it.
    pub(crate) fn connect(&self) -> io::Result<Asker> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_nodelay(true)?;
        Ok(Asker {
            stream,
            received: Vec::new(),
        })
    }
}

/// One who asks it.
pub(crate) struct Asker {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Asker {
    /// Asks for something that takes so long, and waits for the reply.
    #[inline(never)]
    pub(crate) fn ask(&mut self, takes: Duration) -> io::Result<()> {
        self.get(&format!("/us/{}", takes.as_micros())).map(drop)
    }

    /// Waits no longer for an answer.
    pub(crate) fn waits_for(&self, limit: Duration) -> io::Result<()> {
        self.stream.set_read_timeout(Some(limit))
    }

    /// Asks for a path, and gives whether it was answered without an error.
    #[inline(never)]
    pub(crate) fn get(&mut self, path: &str) -> io::Result<bool> {
        let line = format!("GET {path} HTTP/1.1\r\nHost: upstream\r\n\r\n");
        self.stream.write_all(line.as_bytes())?;
        self.received.clear();
        let mut block = [0; 4096];
        // The reply is what a collector says: a head and two bytes.
        while !self.received.ends_with(b"\r\n\r\n{}") {
            let n = self.stream.read(&mut block)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.received.extend_from_slice(&block[..n]);
        }
        Ok(self.received.starts_with(b"HTTP/1.1 200"))
    }
}
