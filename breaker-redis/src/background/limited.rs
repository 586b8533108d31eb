//! How much of an answer is taken in before it makes sense.

use crate::error::Trouble;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most that is read without one whole answer or message in it, in bytes: what is asked at once is
/// answered in a twentieth of it. Of three bytes the parser makes a value of 56, in a list that doubles
/// as it grows: it is not more, so that nonsense costs some tens of megabytes at most.
pub(crate) const MOST_UNREAD: usize = 1 << 20;

/// What was read since the last answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge(Arc<AtomicUsize>);

impl Gauge {
    /// There was an answer.
    pub(crate) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// What a connection ended of, if it was too much.
    pub(crate) fn explain(&self, trouble: Trouble) -> Trouble {
        match self.0.load(Ordering::Relaxed) > MOST_UNREAD {
            true => Trouble::Nonsense(TooMuch.to_string()),
            false => trouble,
        }
    }

    /// `false`: too much.
    fn add(&self, bytes: usize) -> bool {
        let before = self.0.fetch_add(bytes, Ordering::Relaxed);
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
