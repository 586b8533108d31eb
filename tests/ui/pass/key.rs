//! `key`: every form that an expression over the parameters may have.

#![deny(warnings)]

use std::borrow::Cow;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use breakerbox::{CallError, Key, KeyedBreakers, Settings, SystemClock, circuit_breaker};

type Answer = Result<u8, CallError<()>>;

const MANY: u32 = 1_000;

static HOSTS: KeyedBreakers<String> = KeyedBreakers::new("hosts", Settings::new().must());

struct Url(String);

impl Url {
    fn host(&self) -> &str {
        &self.0
    }
}

#[circuit_breaker(key = hotel)]
fn parameter(hotel: &str) -> Answer {
    let _ = hotel;
    Ok(1)
}

#[circuit_breaker(key = url.host())]
async fn method_call(url: Url) -> Answer {
    drop(url);
    Ok(1)
}

#[circuit_breaker(key = url.0, max_keys = MANY)]
fn field(url: Url) -> Answer {
    drop(url);
    Ok(1)
}

#[circuit_breaker(key = (hotel, "rooms", 1_u8), max_keys = 1)]
fn literals(hotel: u8) -> Answer {
    let _ = hotel;
    Ok(1)
}

#[circuit_breaker(key = (|hotel: &str| hotel.len())(hotel), max_keys = MANY + 1)]
fn closure(hotel: &str) -> Answer {
    let _ = hotel;
    Ok(1)
}

#[circuit_breaker(key = { let (first, _) = pair; first })]
fn block(pair: (u8, u8)) -> Answer {
    let _ = pair;
    Ok(1)
}

#[circuit_breaker(key = if pair.0 > 1 { "many" } else { "few" })]
fn condition(pair: (u8, u8)) -> Answer {
    let _ = pair;
    Ok(1)
}

#[circuit_breaker(key = (account, region))]
fn owned(account: String, region: String) -> Answer {
    drop((account, region));
    Ok(1)
}

#[circuit_breaker(key = (account, region), fallback = |_| None)]
async fn owned_later(account: String, region: String) -> Answer {
    drop((account, region));
    Ok(1)
}

fn cached(account: &str, _: &(String, char)) -> Option<Answer> {
    let _ = account;
    None
}

#[circuit_breaker(key = (account, (region.0, region.1), 7_u8), fallback = cached)]
async fn nested(account: &str, region: &(String, char)) -> Answer {
    let _ = (account, region);
    Ok(1)
}

#[circuit_breaker(key = ((hotel,)))]
fn in_parentheses(hotel: u128) -> Answer {
    let _ = hotel;
    Ok(1)
}

#[circuit_breaker(key = &hotel[..2])]
fn slice(hotel: String) -> Answer {
    drop(hotel);
    Ok(1)
}

#[circuit_breaker(key = (a, b, c, d, e, f))]
fn many(a: u8, b: Arc<str>, c: Box<u8>, d: Cow<'_, str>, e: IpAddr, f: bool) -> Answer {
    drop((a, b, c, d, e, f));
    Ok(1)
}

#[circuit_breaker(key = hotel)]
fn unique(hotel: &mut String) -> Answer {
    hotel.clear();
    Ok(1)
}

#[circuit_breaker(key = hotel)]
fn counted(hotel: Rc<String>) -> Answer {
    drop(hotel);
    Ok(1)
}

#[circuit_breaker(key = key)]
async fn generic<K: Key + Send + Sync>(key: K) -> Answer {
    drop(key);
    Ok(1)
}

#[circuit_breaker(key = N)]
fn constant<const N: usize>() -> Answer {
    Ok(1)
}

#[circuit_breaker(key = ip?)]
fn with_a_way_out(ip: Result<IpAddr, CallError<()>>) -> Answer {
    Ok(1)
}

#[circuit_breaker(breaker = HOSTS, key = hotel, timeout = "2s")]
async fn elsewhere(hotel: Arc<str>) -> Answer {
    drop(hotel);
    Ok(1)
}

#[circuit_breaker(breaker = HOSTS.get(hotel))]
fn one_of_them(hotel: &str) -> Answer {
    let _ = hotel;
    Ok(1)
}

#[circuit_breaker(key = hotel, failure_rate = 0.5, window = "10s", name = "by rate")]
fn by_rate(hotel: u8) -> Answer {
    let _ = hotel;
    Ok(1)
}

struct Client {
    account: u64,
    hosts: Box<KeyedBreakers<(u64, String), SystemClock>>,
}

impl Client {
    #[circuit_breaker(key = self.account)]
    fn own_field(&self) -> Answer {
        Ok(1)
    }

    #[circuit_breaker(key = (self.account, hotel))]
    async fn field_and_parameter(&mut self, hotel: String) -> Answer {
        self.account += hotel.len() as u64;
        Ok(1)
    }

    #[circuit_breaker(breaker = self.hosts, key = (self.account, hotel))]
    fn own_breakers(&self, hotel: &str) -> Answer {
        let _ = hotel;
        Ok(1)
    }

    #[circuit_breaker(key = self.account)]
    async fn gone(self: Box<Self>) -> Answer {
        drop(self);
        Ok(1)
    }

    #[circuit_breaker(key = hotel)]
    fn associated(hotel: u8) -> Answer {
        let _ = hotel;
        Ok(1)
    }
}

trait Pms {
    fn id(&self) -> u32;

    #[circuit_breaker(key = self.id())]
    fn provided(&self) -> Answer {
        Ok(1)
    }
}

impl Pms for Client {
    fn id(&self) -> u32 {
        7
    }

    #[circuit_breaker(key = self.id())]
    fn provided(&self) -> Answer {
        Ok(2)
    }
}

fn main() {
    let text = || String::from("x.example");
    let _ = (parameter("x"), field(Url(text())), literals(1), closure("x"));
    drop(method_call(Url(text())));
    let _ = (block((1, 2)), condition((1, 2)), owned(text(), text()));
    drop(owned_later(text(), text()));
    drop(nested("x", &(text(), 'x')));
    let _ = (in_parentheses(1), slice(text()), unique(&mut text()));
    let ip = IpAddr::from([1, 2, 3, 4]);
    let _ = many(1, "x".into(), Box::new(1), "x".into(), ip, true);
    let _ = (counted(text().into()), constant::<3>(), with_a_way_out(Ok(ip)));
    drop((generic(1_u8), elsewhere("x".into())));
    let _ = (one_of_them("x"), by_rate(1));
    let mut client = Client {
        account: 1,
        hosts: Box::new(KeyedBreakers::new("x", Settings::new().must())),
    };
    let _ = (client.own_field(), client.own_breakers("x"), client.provided());
    drop(client.field_and_parameter(text()));
    drop(Box::new(client).gone());
    let _ = Client::associated(1);
}
