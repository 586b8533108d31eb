//! All dependencies, on loopback.

use std::io;

use crate::dependency::{Dependency, Fault};
use crate::places::Places;

/// All dependencies, on loopback.
#[derive(Debug)]
pub struct Dependencies {
    /// The property-management system.
    pub pms: Dependency,
    /// A source of rates.
    pub north: Dependency,
    /// Another one.
    pub south: Dependency,
    /// Payments.
    pub payments: Dependency,
    /// Reviews.
    pub reviews: Dependency,
}

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The property-management system.
    Pms,
    /// A source of rates.
    North,
    /// Payments.
    Payments,
    /// Reviews.
    Reviews,
}

impl Which {
    /// All that are played with: `south` is always well.
    pub const ALL: [Self; 4] = [Self::Pms, Self::North, Self::Payments, Self::Reviews];
}

impl Dependencies {
    /// All of them, well.
    ///
    /// # Errors
    /// Where there is no port.
    pub async fn start() -> io::Result<Self> {
        Ok(Self {
            pms: Dependency::start().await?,
            north: Dependency::start().await?,
            south: Dependency::start().await?,
            payments: Dependency::start().await?,
            reviews: Dependency::start().await?,
        })
    }

    /// Where they are.
    #[must_use]
    pub fn places(&self) -> Places {
        Places {
            pms: self.pms.url(),
            rates: vec![
                ("north".to_owned(), self.north.url()),
                ("south".to_owned(), self.south.url()),
            ],
            payments: self.payments.url(),
            reviews: self.reviews.url(),
        }
    }

    /// From now on requests of one of them meet this fault.
    pub fn play(&self, which: Which, fault: Fault) {
        self.of(which).play(fault);
    }

    fn of(&self, which: Which) -> &Dependency {
        match which {
            Which::Pms => &self.pms,
            Which::North => &self.north,
            Which::Payments => &self.payments,
            Which::Reviews => &self.reviews,
        }
    }
}
