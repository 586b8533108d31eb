//! What a guarded future keeps of its call until the call has ended.

use core::pin::Pin;
use pin_project_lite::pin_project;

pin_project! {
    /// A call that is not over, or nothing: then it can be gone before the future is dropped.
    #[project = Projected]
    pub(crate) enum Held<F, K> {
        Call {
            #[pin]
            body: F,
            // Beside the word that says which of the two it is, it makes the future no larger.
            // Empty once the call has ended, and while its body runs.
            classify: Option<K>,
        },
        Nothing,
    }
}

impl<F, K> Held<F, K> {
    #[inline]
    pub(crate) fn call(body: F, classify: K) -> Self {
        Self::Call {
            body,
            classify: Some(classify),
        }
    }

    /// The same call, classified by this.
    pub(crate) fn classified<N>(self, classify: N) -> Held<F, N> {
        match self {
            Self::Call { body, .. } => Held::call(body, classify),
            Self::Nothing => Held::Nothing,
        }
    }

    /// The body, the classifier, and where the classifier is put if the call goes on; `None` once the
    /// call has ended, or panicked.
    #[inline(always)]
    pub(crate) fn take(self: Pin<&mut Self>) -> Option<(Pin<&mut F>, K, &mut Option<K>)> {
        match self.project() {
            Projected::Call { body, classify } => {
                let taken = classify.take()?;
                Some((body, taken, classify))
            }
            Projected::Nothing => None,
        }
    }
}
