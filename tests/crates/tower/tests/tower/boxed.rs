//! Between layers that box errors.

use super::*;
use breakerbox::{CircuitOpenError, State, test};
use tower::timeout::error::Elapsed;
use tower::{BoxError, ServiceBuilder, ServiceExt};

#[test]
fn what_is_boxed_inside_is_not_boxed_twice() {
    let scope = test::scope();
    block_on(async {
        let (pms, inner) = (breaker(Settings::new()), Pms::default());
        let guard = layer(&pms)
            .classify(|error: &BoxError| !error.is::<Failed>())
            .when_open(|open| Err(open.into()));
        let mut service = ServiceBuilder::new()
            .buffer(8)
            .concurrency_limit(4)
            .layer(guard)
            .timeout(Duration::from_millis(1))
            .service(inner.clone());
        let mut call = async |request| service.ready().await?.call(request).await;
        let failed: BoxError = call(answered(Err(NO_SUCH_ROOM))).await.unwrap_err();
        assert_eq!(failed.downcast_ref(), Some(&NO_SUCH_ROOM));
        assert_eq!(pms.state(), State::Closed, "an answer");

        let (_answer, hangs) = oneshot::channel();
        assert!(call(hangs).await.unwrap_err().is::<Elapsed>());
        assert_eq!(pms.state(), State::Open);
        let refused = call(answered(Ok(1))).await.unwrap_err();
        let refused = refused.downcast_ref::<CircuitOpenError>().unwrap();
        assert_eq!(refused.retry_after(), Some(RESET));

        scope.advance(RESET);
        assert_eq!(call(answered(Ok(7))).await.unwrap(), 7);
        assert_eq!((inner.called(), pms.state()), (3, State::Closed));
    });
}
