//! The chunked transfer coding (RFC 9112, section 7.1), byte by byte where it frames and in whole
//! slices where it carries data.

use super::Malformed;

/// Bytes of the size and the extensions of one chunk, or of all trailers, at most: as much as a head may
/// have. Real servers send neither in such lengths; the limit is against endless ones.
const MOST_LINE_BYTES: u32 = 64 * 1024;

/// Where in the coding we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first digit of a size.
    SizeBegin,
    /// In the digits of a size.
    Size,
    /// In white space after a size.
    Blank,
    /// In extensions, which mean nothing here, before the end of their line.
    Extension,
    /// The line feed that ends the size's line.
    SizeEnd,
    /// In the data.
    Data,
    /// The carriage return after the data.
    DataReturn,
    /// The line feed after the data.
    DataEnd,
    /// At the start of a trailer line, or of the empty line that ends it all.
    TrailerStart,
    /// In a trailer line.
    Trailer,
    /// The line feed that ends a trailer line.
    TrailerEnd,
    /// The last line feed.
    LastEnd,
    /// After the last byte.
    Over,
}

/// A decoder of one body.
#[derive(Debug)]
pub(super) struct Chunked {
    at: At,
    left: u64,
    line_bytes: u32,
}

impl Chunked {
    /// Before the first byte of a body.
    pub(super) fn new() -> Self {
        Self {
            at: At::SizeBegin,
            left: 0,
            line_bytes: 0,
        }
    }

    /// Whether the body is whole.
    pub(super) fn is_over(&self) -> bool {
        self.at == At::Over
    }

    /// Reads on; gives data to `data` and returns how many bytes belonged to the body.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut data: impl FnMut(&[u8]),
    ) -> Result<usize, Malformed> {
        let mut read = 0;
        while read < bytes.len() && !self.is_over() {
            if self.at == At::Data {
                let take = self.left.min((bytes.len() - read) as u64) as usize;
                data(&bytes[read..read + take]);
                read += take;
                self.left -= take as u64;
                if self.left == 0 {
                    self.at = At::DataReturn;
                }
            } else {
                self.at = self.step(bytes[read])?;
                read += 1;
            }
        }
        Ok(read)
    }

    fn step(&mut self, byte: u8) -> Result<At, Malformed> {
        Ok(match (self.at, byte) {
            (At::SizeBegin | At::Size, _) if byte.is_ascii_hexdigit() => self.digit(byte)?,
            // Some old servers pad the size (RFC 9112, section 7.1.1, calls it bad white space).
            (At::Size | At::Blank, b' ' | b'\t') => self.line(At::Blank)?,
            (At::Size | At::Blank, b';') => At::Extension,
            (At::Size | At::Blank | At::Extension, b'\r') => At::SizeEnd,
            (At::Extension, _) if byte != b'\n' => self.line(At::Extension)?,
            (At::SizeEnd, b'\n') => {
                self.line_bytes = 0;
                if self.left == 0 {
                    At::TrailerStart
                } else {
                    At::Data
                }
            }
            (At::DataReturn, b'\r') => At::DataEnd,
            (At::DataEnd, b'\n') => At::SizeBegin,
            (At::TrailerStart, b'\r') => At::LastEnd,
            (At::Trailer, b'\r') => At::TrailerEnd,
            (At::TrailerStart | At::Trailer, _) if byte != b'\n' => self.line(At::Trailer)?,
            (At::TrailerEnd, b'\n') => At::TrailerStart,
            (At::LastEnd, b'\n') => At::Over,
            _ => return Err(Malformed("the chunked coding is broken")),
        })
    }

    fn digit(&mut self, byte: u8) -> Result<At, Malformed> {
        // `left` is 0 when a size begins.
        if self.left >> 60 != 0 {
            return Err(Malformed("a chunk is longer than any body"));
        }
        let digit = char::from(byte).to_digit(16).unwrap_or_default();
        self.left = self.left << 4 | u64::from(digit);
        self.line(At::Size)
    }

    fn line(&mut self, at: At) -> Result<At, Malformed> {
        self.line_bytes += 1;
        if self.line_bytes > MOST_LINE_BYTES {
            return Err(Malformed(
                "a chunk's size, its extensions or the trailers do not end",
            ));
        }
        Ok(at)
    }
}
