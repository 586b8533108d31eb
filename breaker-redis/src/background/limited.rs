//! What is read of a connection: how much of an answer is taken in before it makes sense, and what
//! reading ended of.

use crate::error::Trouble;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most that is read without one whole answer or message in it, in bytes: what is asked at once is
/// answered in a twentieth of it. Of three bytes the parser makes a value of 56, in a list that doubles
/// as it grows: it is not more, so that nonsense costs some tens of megabytes at most.
pub(crate) const MOST_UNREAD: usize = 1 << 20;

/// What was read since the last answer, and what reading ended of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Arc<Read>);

#[derive(Debug, Default)]
struct Read {
    unanswered: AtomicUsize,
    /// The first byte of all.
    first: OnceLock<u8>,
    /// What TLS ended of, as the client doesn't say it.
    tls: OnceLock<String>,
}

impl Gauge {
    /// There was an answer.
    pub(crate) fn clear(&self) {
        self.0.unanswered.store(0, Ordering::Relaxed);
    }

    /// What a connection ended of, if it was too much, or TLS.
    pub(crate) fn explain(&self, trouble: Trouble) -> Trouble {
        if self.0.unanswered.load(Ordering::Relaxed) > MOST_UNREAD {
            return Trouble::Nonsense(TooMuch.to_string());
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

    /// `false`: too much.
    fn add(&self, bytes: usize) -> bool {
        let before = self.0.unanswered.fetch_add(bytes, Ordering::Relaxed);
        before.saturating_add(bytes) <= MOST_UNREAD
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
        if matches!(read, Poll::Ready(Ok(()))) && !self.gauge.add(buf.filled().len() - before) {
            let error = io::Error::new(io::ErrorKind::InvalidData, TooMuch);
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
#[error("an answer of more than 1 MiB")]
pub(crate) struct TooMuch;
