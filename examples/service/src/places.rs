//! Where the dependencies are.

use clap::Args;
use reqwest::Url;

/// Where the dependencies are.
#[derive(Clone, Debug, Args)]
pub struct Places {
    /// Where the PMS is.
    #[arg(long, value_name = "URL", value_parser = base)]
    pub pms: Url,
    /// A source of rates; given once for each.
    #[arg(long, value_name = "NAME=URL", value_parser = named, required = true)]
    pub rates: Vec<(String, Url)>,
    /// Where payments are.
    #[arg(long, value_name = "URL", value_parser = base)]
    pub payments: Url,
    /// Where reviews are.
    #[arg(long, value_name = "URL", value_parser = base)]
    pub reviews: Url,
}

/// The address below which an API is.
fn base(given: &str) -> Result<Url, String> {
    let url = Url::parse(given).map_err(|error| error.to_string())?;
    match (url.scheme(), url.has_host()) {
        ("http", true) => Ok(url),
        _ => Err("it begins with `http://` and a host".to_owned()),
    }
}

fn named(given: &str) -> Result<(String, Url), String> {
    match given.split_once('=') {
        Some((name, url)) if !name.is_empty() => Ok((name.to_owned(), base(url)?)),
        _ => Err("it is a name, `=` and an address: `north=http://127.0.0.1:8080`".to_owned()),
    }
}

impl Places {
    /// The arguments that say the same.
    #[must_use]
    pub fn args(&self) -> Vec<String> {
        let mut args = vec![
            format!("--pms={}", self.pms),
            format!("--payments={}", self.payments),
            format!("--reviews={}", self.reviews),
        ];
        let rates = self.rates.iter();
        args.extend(rates.map(|(name, url)| format!("--rates={name}={url}")));
        args
    }
}
