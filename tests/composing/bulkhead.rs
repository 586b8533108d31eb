//! Semaphores that bound how many calls are under way.

use super::{Answer, LIMITED, PmsError, is_refused, of_the_dependency};
use breakerbox::{CallError, circuit_breaker};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;

#[tokio::test(start_paused = true)]
async fn a_bulkhead_bounds_what_hangs_before_the_circuit_opens() {
    static PLACES: Semaphore = Semaphore::const_new(10);
    static PMS: AtomicU32 = AtomicU32::new(0);

    #[circuit_breaker(threshold = 3, timeout = "2s", classify = of_the_dependency)]
    async fn rooms() -> Answer {
        let _place = PLACES
            .try_acquire()
            .map_err(|_| CallError::Call(PmsError::Limited))?;
        PMS.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    let calls: Vec<_> = (0..100).map(|_| tokio::spawn(rooms())).collect();
    let (mut late, mut limited) = (0, 0);
    for call in calls {
        match call.await.unwrap() {
            Err(CallError::TimedOut(_)) => late += 1,
            answer => {
                assert_eq!(answer, LIMITED);
                limited += 1;
            }
        }
    }
    assert_eq!((late, limited), (10, 90));
    assert!(is_refused(&rooms().await));
    assert_eq!(PMS.load(Ordering::Relaxed), 10);
    assert_eq!(PLACES.available_permits(), 10);
}

/// A queue inside is a part of the call: its waiting counts towards the `timeout`. Outside it
/// is not.
#[tokio::test(start_paused = true)]
async fn waiting_for_a_place_belongs_outside() {
    static PLACE: Semaphore = Semaphore::const_new(1);

    /// Half a second each, one at a time, and well.
    async fn request() -> Result<u32, PmsError> {
        tokio::time::sleep(Duration::from_millis(500)).await;
        Ok(7)
    }

    #[circuit_breaker(threshold = 3, timeout = "2s")]
    async fn waits_inside() -> Answer {
        let _place = PLACE.acquire().await.unwrap();
        request().await.map_err(CallError::Call)
    }

    #[circuit_breaker(threshold = 3, timeout = "2s")]
    async fn guarded() -> Answer {
        request().await.map_err(CallError::Call)
    }

    async fn waits_outside() -> Answer {
        let _place = PLACE.acquire().await.unwrap();
        guarded().await
    }

    let calls: Vec<_> = (0..10).map(|_| tokio::spawn(waits_inside())).collect();
    let mut late = 0;
    for call in calls {
        late += u32::from(matches!(call.await.unwrap(), Err(CallError::TimedOut(_))));
    }
    assert!(late >= 6, "{late} of ten waited for more than two seconds");
    assert!(
        is_refused(&waits_inside().await),
        "of a system that is well"
    );

    let calls: Vec<_> = (0..10).map(|_| tokio::spawn(waits_outside())).collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(7));
    }
}
