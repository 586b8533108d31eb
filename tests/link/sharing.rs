//! Lost and found again.

use breakerbox::link::{sharing_lost, sharing_lost_in_part, sharing_restored};
use breakerbox::observe::{
    self, FirstThenCounts, InOrder, Observer, Part, SharingLost, SharingRestored,
};
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug)]
struct Lost(Option<Box<Lost>>, &'static str);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1)
    }
}

impl Error for Lost {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause = self.0.as_deref()?;
        Some(cause)
    }
}

/// Of one fleet, which its test has for itself.
struct Lines(&'static str, Mutex<Vec<String>>);

impl Lines {
    fn of(fleet: &'static str) -> Arc<Self> {
        Arc::new(Self(fleet, Mutex::default()))
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.1.lock().unwrap())
    }
}

impl Observer for Lines {
    fn sharing_lost(&self, event: &SharingLost<'_>) {
        if event.fleet == self.0 {
            self.1.lock().unwrap().push(event.to_string());
        }
    }

    fn sharing_restored(&self, event: &SharingRestored<'_>) {
        if event.fleet == self.0 {
            self.1.lock().unwrap().push(event.to_string());
        }
    }
}

#[test]
fn it_is_told_through_whatever_is_around_an_observer() {
    let lines = Lines::of("around");
    let _installed = observe::install(InOrder::new(FirstThenCounts::new(lines.clone())));
    let error = Lost(Some(Box::new(Lost(None, "timed out"))), "no connection");
    sharing_lost("around", &error, 1);
    sharing_restored("around", Duration::from_millis(1_500));
    assert_eq!(
        lines.take(),
        [
            "fleet `around` can't be reached, each process is on its own: no connection: timed out",
            "fleet `around` is reached again, after 1.5s"
        ]
    );
}

#[test]
fn how_often_is_told_and_nothing_breaks_a_line() {
    let lines = Lines::of("odd\nname");
    let _installed = observe::install(lines.clone());
    sharing_lost("odd\nname", &Lost(None, "server said:\n\u{202e}OK"), 7);
    assert_eq!(
        lines.take(),
        [
            "fleet `odd\\nname` can't be reached, each process is on its own: server said:\\n\\u{202e}OK \
             (lost 7 times since this was told last)"
        ]
    );
}

#[test]
fn a_part_is_told_as_one() {
    #[derive(Default)]
    struct Parts(Mutex<Vec<Option<Part>>>);
    impl Observer for Parts {
        fn sharing_lost(&self, event: &SharingLost<'_>) {
            if event.fleet == "in\npart" {
                self.0.lock().unwrap().push(event.part);
            }
        }
    }

    let (lines, parts) = (Lines::of("in\npart"), Arc::new(Parts::default()));
    let _lines = observe::install(InOrder::new(FirstThenCounts::new(lines.clone())));
    let _parts = observe::install(parts.clone());
    sharing_lost_in_part("in\npart", &Lost(None, "gone\n"), 2, Part::new(1, 3));
    sharing_lost("in\npart", &Lost(None, "gone"), 1);
    assert_eq!(
        lines.take(),
        [
            "1 of 3 circuits of fleet `in\\npart` can't be shared, each process is on its own with these: \
             gone\\n (lost 2 times since this was told last)",
            "fleet `in\\npart` can't be reached, each process is on its own: gone"
        ]
    );
    assert_eq!(*parts.0.lock().unwrap(), [Some(Part::new(1, 3)), None]);
}

#[test]
fn in_a_test_scope_it_is_the_scope_s() {
    let outside = Lines::of("scoped-fleet");
    let _installed = observe::install(outside.clone());
    let _scope = breakerbox::test::scope();
    let inside = Lines::of("scoped-fleet");
    let _in_scope = observe::install(inside.clone());
    sharing_lost("scoped-fleet", &Lost(None, "gone"), 1);
    assert_eq!((outside.take().len(), inside.take().len()), (0, 1));
}

#[test]
fn it_is_in_the_order_of_everything() {
    #[derive(Default)]
    struct Numbers(Mutex<Vec<u64>>);
    impl Observer for Numbers {
        fn sharing_lost(&self, event: &SharingLost<'_>) {
            if event.fleet == "numbered" {
                self.0.lock().unwrap().push(event.sequence);
            }
        }

        fn sharing_restored(&self, event: &SharingRestored<'_>) {
            if event.fleet == "numbered" {
                assert_eq!(event.after, Duration::from_secs(2));
                self.0.lock().unwrap().push(event.sequence);
            }
        }
    }

    let numbers = Arc::new(Numbers::default());
    let _installed = observe::install(numbers.clone());
    sharing_lost("numbered", &Lost(None, "gone"), 1);
    sharing_restored("numbered", Duration::from_secs(2));
    let numbers = numbers.0.lock().unwrap();
    assert!(numbers.len() == 2 && numbers.is_sorted(), "{numbers:?}");
}
