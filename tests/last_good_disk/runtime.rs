//! Async functions, with tokio's runtimes and without any.

use super::*;
use breakerbox::LastGood;
use breakerbox::last_good::{Reply, Store};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

const HOUR: Duration = Duration::from_secs(3600);

async fn store_and_load(rates: &LastGood<String, u32, Disk<String, u32>>) {
    rates.store("h1", &120).await.unwrap();
    assert_eq!(rates.load("h1").await.unwrap().unwrap().value, 120);
    rates
        .prime("h1", &1, Duration::from_secs(60))
        .await
        .unwrap();
    assert_eq!(rates.load("h1").await.unwrap().unwrap().value, 120);
    rates.forget("h1").await.unwrap();
    assert_eq!(rates.load("h1").await.unwrap(), None);
    rates.store("h1", &121).await.unwrap();
}

fn rates(path: &Path) -> LastGood<String, u32, Disk<String, u32>> {
    LastGood::in_store(open(path), HOUR)
}

#[tokio::test]
async fn in_a_runtime_of_one_thread() {
    let place = somewhere();
    store_and_load(&rates(&place.path)).await;
    assert_eq!(load(&open::<u32>(&place.path), "h1").unwrap(), Some(121));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_a_runtime_of_several() {
    let place = somewhere();
    let rates = Arc::new(rates(&place.path));
    let tasks: Vec<_> = (0..200_u32)
        .map(|number| {
            let rates = Arc::clone(&rates);
            tokio::spawn(async move {
                let key = format!("h{number}");
                rates.store(&key, &number).await.unwrap();
                let found = rates.load(&key).await.unwrap().unwrap();
                assert_eq!(found.value, number);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(rates.backend().count().unwrap(), 200);
}

#[test]
fn without_a_runtime() {
    let place = somewhere();
    let rates = rates(&place.path);
    let mut future = pin!(store_and_load(&rates));
    let mut context = Context::from_waker(Waker::noop());
    // Nothing to wait for.
    assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(()));
}

#[test]
fn a_future_that_is_dropped_loses_nothing() {
    let place = somewhere();
    let disk = open::<u32>(&place.path);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        fn answer(value: &u32) -> Aged<&u32> {
            let age = Duration::ZERO;
            Aged { value, age }
        }
        for value in 0..50 {
            // Never polled, and polled once.
            drop(disk.save("never", answer(&value)));
            let Reply::Later(saving) = disk.save("once", answer(&value)) else {
                panic!("it would have blocked the runtime");
            };
            let mut saving = Box::pin(saving);
            let _ = saving
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
        }
    });
    // Waits for what is being written.
    drop(runtime);
    let whole = |key| load(&disk, key).unwrap().is_none_or(|value| value < 50);
    assert!(whole("never") && whole("once"));
    save(&disk, "once", &50).unwrap();
    assert_eq!(load(&disk, "once").unwrap(), Some(50));
}

#[test]
fn a_runtime_that_ends_is_an_error() {
    let place = somewhere();
    let disk = open::<u32>(&place.path);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    let entered = handle.enter();
    let Reply::Later(loading) = disk.load("key") else {
        panic!("it would have blocked the runtime");
    };
    let mut context = Context::from_waker(Waker::noop());
    let Poll::Ready(Err(error)) = pin!(loading).poll(&mut context) else {
        panic!("nobody runs it");
    };
    assert!(matches!(error, DiskError::RuntimeEnded { .. }), "{error}");
    drop(entered);
    assert_eq!(load(&disk, "key").unwrap(), None);
}

#[tokio::test]
async fn ages_are_those_of_the_callers_test_scope() {
    let scope = breakerbox::test::scope();
    let place = somewhere();
    let rates = rates(&place.path);
    rates.store("h1", &120).await.unwrap();
    scope.advance(Duration::from_secs(90));
    let served = rates.load("h1").await.unwrap().unwrap();
    assert_eq!(served.age, Duration::from_secs(90));
}

#[test]
fn futures_are_send_whatever_the_key_is_made_of() {
    fn send(_: impl Send) {}
    let place = somewhere();
    let rates = rates(&place.path);
    let key = std::rc::Rc::<str>::from("h1");
    let Reply::Now(Ok(None)) = rates.backend().load(&key) else {
        panic!("there is no runtime");
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let _entered = runtime.enter();
    if let Reply::Later(loading) = rates.backend().load(&key) {
        send(loading);
    }
}
