//! What is read of a connection: how much of an answer is taken in before it makes sense, and what
//! reading ended of.

use crate::error::Trouble;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most that is read without one whole answer or message in it.
#[derive(Clone, Copy, Debug)]
struct Most {
    bytes: usize,
    /// A value of the protocol ends at least one line, and is 56 bytes once it is parsed, in a list that
    /// doubles as it grows: so nonsense costs some tens of megabytes at most, and in place of a map a hundred.
    lines: usize,
    /// Of one line: where it doesn't end, the parser looks for its end again and again.
    line: usize,
    said: TooMuch,
}

/// What is asked at once is answered in a twentieth of it. Three bytes are the shortest value.
const OF_ANSWERS: Most = Most {
    bytes: 1 << 20,
    lines: (1 << 20) / 3 + 1,
    line: 1 << 20,
    said: TooMuch("an answer of more than 1 MiB"),
};

/// Of a cluster: which node has what. A thousand nodes, half of them replicas, with the names and addresses
/// that Redis 7 says of each, are some 200 kB where each has its slots in one piece. Where slots were moved by
/// ones and twos, the same nodes stand there again for each piece: for all 16,384, with two replicas each,
/// that is 10 MB in 790,000 lines.
#[cfg(feature = "cluster")]
const OF_MAPS: Most = Most {
    bytes: 12 << 20,
    lines: 800_000,
    line: 1 << 16,
    said: TooMuch("a map of its cluster that is longer than any can be"),
};

/// What was read since the last answer, and what reading ended of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Arc<Read>);

#[derive(Debug, Default)]
struct Read {
    /// Bytes without an answer, and lines.
    bytes: AtomicUsize,
    lines: AtomicUsize,
    /// Bytes of the last line.
    line: AtomicUsize,
    /// Maps that are waited for.
    #[cfg(feature = "cluster")]
    maps: AtomicUsize,
    too_much: OnceLock<TooMuch>,
    /// The first byte of all.
    first: OnceLock<u8>,
    /// What TLS ended of, as the client doesn't say it.
    tls: OnceLock<String>,
}

impl Gauge {
    /// There was an answer.
    pub(crate) fn clear(&self) {
        self.0.bytes.store(0, Ordering::Relaxed);
        self.0.lines.store(0, Ordering::Relaxed);
    }

    /// What a connection ended of, if it was too much, or TLS.
    pub(crate) fn explain(&self, trouble: Trouble) -> Trouble {
        if let Some(too_much) = self.0.too_much.get() {
            return Trouble::Nonsense(too_much.to_string());
        }
        match self.0.tls.get() {
            Some(why) => Trouble::Tls(why.clone()),
            None => trouble,
        }
    }

    /// What the other side began with, if it said anything.
    pub(crate) fn first(&self) -> Option<u8> {
        self.0.first.get().copied()
    }

    /// A client whose certificate is refused hears of it only where it reads what it asked for.
    fn failed(&self, error: &io::Error) {
        #[cfg(feature = "tls")]
        if let Some(why) = super::tls::why(error) {
            self.0.tls.get_or_init(|| why);
        }
        #[cfg(not(feature = "tls"))]
        let _ = error;
    }

    #[cfg(test)]
    pub(crate) fn unread(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// A map may come, as long as this is there.
    #[cfg(feature = "cluster")]
    pub(crate) fn expect_map(&self) -> Expected {
        self.0.maps.fetch_add(1, Ordering::Relaxed);
        Expected(self.clone())
    }

    fn most(&self) -> Most {
        #[cfg(feature = "cluster")]
        if self.0.maps.load(Ordering::Relaxed) > 0 {
            return OF_MAPS;
        }
        OF_ANSWERS
    }

    /// `Err`: it is too much.
    fn add(&self, read: &[u8]) -> Result<(), TooMuch> {
        let of_read = read.iter().filter(|byte| **byte == b'\n').count();
        let bytes = self.0.bytes.fetch_add(read.len(), Ordering::Relaxed);
        let lines = self.0.lines.fetch_add(of_read, Ordering::Relaxed);
        let line = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => read.len() - end - 1,
            None => self
                .0
                .line
                .load(Ordering::Relaxed)
                .saturating_add(read.len()),
        };
        self.0.line.store(line, Ordering::Relaxed);
        let most = self.most();
        let (bytes, lines) = (
            bytes.saturating_add(read.len()),
            lines.saturating_add(of_read),
        );
        if bytes <= most.bytes && lines <= most.lines && line <= most.line {
            return Ok(());
        }
        Err(*self.0.too_much.get_or_init(|| most.said))
    }
}

/// A map is waited for.
#[cfg(feature = "cluster")]
pub(crate) struct Expected(Gauge);

#[cfg(feature = "cluster")]
impl Drop for Expected {
    fn drop(&mut self) {
        self.0.0.maps.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A stream that ends where a server sends more than makes sense: an answer of any length would
/// otherwise be kept until it is whole.
pub(crate) struct Limited<S> {
    stream: S,
    gauge: Gauge,
}

impl<S> Limited<S> {
    pub(crate) fn new(stream: S, gauge: Gauge) -> Self {
        Self { stream, gauge }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Limited<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if let Poll::Ready(Err(error)) = &read {
            self.gauge.failed(error);
        }
        if let Some(first) = buf.filled().get(before) {
            self.gauge.0.first.get_or_init(|| *first);
        }
        if matches!(read, Poll::Ready(Ok(())))
            && let Err(too_much) = self
                .gauge
                .add(buf.filled().get(before..).unwrap_or_default())
        {
            let error = io::Error::new(io::ErrorKind::InvalidData, too_much);
            return Poll::Ready(Err(error));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Limited<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// A server sent more than makes sense.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TooMuch(&'static str);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_without_an_answer_is_bounded_in_bytes_and_in_values() {
        assert!(size_of::<redis::Value>() <= 56);
        let read = |gauge: &Gauge, what: &[u8], times: usize| {
            let mut read = (0..times).map(|_| gauge.add(what).is_ok());
            read.all(|is_fine| is_fine)
        };
        let gauge = Gauge::default();
        for _ in 0..3 {
            assert!(read(&gauge, &[b'x'; 1024], 1024));
            gauge.clear();
            assert!(read(&gauge, b"_\r\n", (1 << 20) / 3));
            gauge.clear();
        }
        let silent = || Trouble::Silent(std::time::Duration::ZERO);
        assert_eq!(gauge.explain(silent()), silent());
        assert!(!read(&gauge, &[b'x'; 1024], 1025));
        gauge.clear();
        let why = Trouble::Nonsense("an answer of more than 1 MiB".to_owned());
        assert_eq!(gauge.explain(silent()), why, "what it ended of");
    }

    #[test]
    #[cfg(feature = "cluster")]
    fn a_map_may_be_longer_and_only_while_it_is_waited_for() {
        let gauge = Gauge::default();
        let [first, second] = [(); 2].map(|()| gauge.expect_map());
        let line = [&vec![b'x'; OF_MAPS.line - 1][..], b"\n"].concat();
        for _ in 0..OF_MAPS.bytes / line.len() {
            assert!(gauge.add(&line).is_ok());
        }
        gauge.clear();
        drop(first);
        assert!(gauge.add(&vec![b'\n'; OF_MAPS.lines]).is_ok());
        let too_much = gauge.add(b"_\r\n").expect_err("too much").to_string();
        assert!(too_much.contains("map of its cluster"), "{too_much}");
        drop(second);
        let gauge = Gauge::default();
        let expected = gauge.expect_map();
        for _ in 0..OF_MAPS.line / 1024 {
            assert!(gauge.add(&[b'x'; 1024]).is_ok());
        }
        assert!(gauge.add(b"x").is_err(), "a line without an end");
        drop(expected);
        let gauge = Gauge::default();
        assert!(gauge.add(&vec![b'x'; OF_ANSWERS.bytes + 1]).is_err());
    }
}
