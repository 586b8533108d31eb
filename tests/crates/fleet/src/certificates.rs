//! Certificates made for a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    date_time_ymd,
};

/// Of the next authority.
static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// Where a certificate of a server or a client, its key and the authority that signed it lie.
#[derive(Clone, Debug)]
pub struct Files {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The certificate of the authority.
    pub authority: PathBuf,
}

/// An authority that nobody else knows.
#[derive(Debug)]
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

/// Until when a certificate is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Good {
    /// For long.
    Now,
    /// No longer.
    Expired,
}

impl Authority {
    /// A new one.
    ///
    /// # Panics
    /// If it can't be made.
    #[must_use]
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        // Whose name is that of who vouches for it, vouches for itself, to OpenSSL.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        params.distinguished_name = called(&format!("authority {number}"));
        let certificate = params.self_signed(&key).expect("a certificate").pem();
        Self {
            issuer: Issuer::new(params, key),
            certificate,
        }
    }

    /// Signs a certificate for a server at these names or addresses, or for a client of these names, into
    /// a folder.
    ///
    /// # Panics
    /// If it can't be made or written.
    #[must_use]
    pub fn sign(&self, folder: &Path, name: &str, hosts: &[&str], good: Good) -> Files {
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(hosts).expect("names of hosts");
        params.distinguished_name = called(name);
        if good == Good::Expired {
            params.not_before = date_time_ymd(2001, 1, 1);
            params.not_after = date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().expect("a key");
        let signed = params.signed_by(&key, &self.issuer).expect("a certificate");
        write(folder, name, &signed.pem(), &key, &self.certificate)
    }

    /// A certificate of a server that is an authority's own, as one is made in a hurry.
    ///
    /// # Panics
    /// If it can't be made or written.
    #[must_use]
    pub fn sign_itself(folder: &Path, name: &str, hosts: &[&str]) -> Files {
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(hosts).expect("names of hosts");
        params.distinguished_name = called(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let own = params.self_signed(&key).expect("a certificate").pem();
        write(folder, name, &own, &key, &own)
    }
}

fn write(folder: &Path, name: &str, certificate: &str, key: &KeyPair, authority: &str) -> Files {
    let write = |ending: &str, text: &str| {
        let path = folder.join(format!("{name}.{ending}"));
        fs::write(&path, text).expect("a file");
        path
    };
    Files {
        certificate: write("crt", certificate),
        key: write("key", &key.serialize_pem()),
        authority: write("ca", authority),
    }
}

fn called(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}
