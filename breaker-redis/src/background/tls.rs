//! TLS: whom to trust, and who this is.

use super::trouble::NO_TLS;
use crate::error::FleetError;
use rustls::AlertDescription;
use rustls::ClientConfig;
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::io;
use std::sync::Arc;

/// How to speak TLS. `roots`: in PEM, instead of the system's. `client`: certificates and key, in PEM.
pub(crate) fn client(
    roots: Option<&[u8]>,
    client: Option<(&[u8], &[u8])>,
) -> Result<Arc<ClientConfig>, FleetError> {
    let wrong = |what: &str| Err(FleetError::Certificate(what.to_owned()));
    let trusted = match roots {
        Some(pem) => given(pem)?,
        None => of_system(rustls_native_certs::load_native_certs().certs)?,
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions();
    let Ok(builder) = builder else {
        return wrong("no version of the protocol is there");
    };
    let builder = builder.with_root_certificates(trusted);
    let Some((certificates, key)) = client else {
        return Ok(Arc::new(builder.with_no_client_auth()));
    };
    let certificates = certificates_of(certificates);
    let Some(certificates) = certificates.filter(|found| !found.is_empty()) else {
        return wrong(
            "the client certificate has no certificate in PEM that can be read: give what begins with \
             `-----BEGIN CERTIFICATE-----`",
        );
    };
    let Ok(key) = PrivateKeyDer::from_pem_slice(key) else {
        return wrong(
            "the key of the client certificate is no private key in PEM: give what begins with `-----BEGIN \
             PRIVATE KEY-----`",
        );
    };
    match builder.with_client_auth_cert(certificates, key) {
        Ok(config) => Ok(Arc::new(config)),
        Err(_) => wrong(
            "the client certificate and its key don't belong together, or can't be used: give both of one pair",
        ),
    }
}

fn certificates_of(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .ok()
}

fn given(pem: &[u8]) -> Result<RootCertStore, FleetError> {
    let mut trusted = RootCertStore::empty();
    let found = certificates_of(pem).unwrap_or_default();
    let all_fit = found.into_iter().all(|root| trusted.add(root).is_ok());
    if trusted.is_empty() || !all_fit {
        let what = "the root certificates have none in PEM, or one that can't be read: give what begins with \
                    `-----BEGIN CERTIFICATE-----`";
        return Err(FleetError::Certificate(what.to_owned()));
    }
    Ok(trusted)
}

fn of_system(found: Vec<CertificateDer<'static>>) -> Result<RootCertStore, FleetError> {
    let mut trusted = RootCertStore::empty();
    trusted.add_parsable_certificates(found);
    if trusted.is_empty() {
        let what = "this system has no root certificates: add them (Debian's package `ca-certificates`), or say \
                    by `SSL_CERT_FILE` where they are, or give whom to trust by `root_certificates`";
        return Err(FleetError::Certificate(what.to_owned()));
    }
    Ok(trusted)
}

/// Where the other side has ended it: of certificates it knows that of the client alone.
fn why_refused(alert: AlertDescription) -> String {
    use AlertDescription as Alert;
    let why = match alert {
        Alert::CertificateRequired => "the other side asks for a client certificate",
        Alert::CertificateExpired => "the client certificate has expired",
        Alert::CertificateRevoked => "the client certificate was revoked",
        Alert::UnknownCA
        | Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateUnknown
        | Alert::AccessDenied => "the other side doesn't trust the client certificate",
        _ => {
            return format!(
                "the other side refused the handshake ({alert:?}): does it ask for a client \
                 certificate?"
            );
        }
    };
    format!("{why} ({alert:?}): give one that it trusts by `FleetBuilder::client_certificate`")
}

/// What a handshake failed of, in words that stay the same.
pub(crate) fn why(error: &io::Error) -> Option<String> {
    use rustls::{CertificateError as Bad, Error};
    let error = error.get_ref()?.downcast_ref::<Error>()?;
    let why = match error {
        Error::InvalidCertificate(bad) => match bad {
            Bad::UnknownIssuer => {
                "the certificate is not trusted, as nobody known vouches for it: give who does by \
                 `FleetBuilder::root_certificates`"
            }
            Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
                "the certificate is another host's: write a host that it is for in the address, or give \
                 redis one that is for this host"
            }
            Bad::Expired | Bad::ExpiredContext { .. } => {
                "the certificate has expired: give redis a new one (or is this host's clock wrong?)"
            }
            Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
                "the certificate is not valid yet: is this host's clock right?"
            }
            Bad::Revoked => "the certificate was revoked: give redis a new one",
            // As a rule one that was made by hand, of version 1, or a CA's own.
            _ => {
                return Some(format!(
                    "the certificate can't be trusted ({bad}): give redis one of version 3 for this host, \
                     which isn't a CA's own, and who vouches for it by `FleetBuilder::root_certificates`"
                ));
            }
        },
        Error::AlertReceived(alert) => return Some(why_refused(*alert)),
        Error::InvalidMessage(_) => {
            return Some(format!("the other side doesn't speak TLS: {NO_TLS}"));
        }
        _ => return Some(error.to_string()),
    };
    Some(why.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in an image that has the program and nothing else.
    #[test]
    fn a_system_without_root_certificates_says_what_to_do() {
        let no_certificate = CertificateDer::from(vec![1, 2, 3]);
        for found in [vec![], vec![no_certificate]] {
            let error = of_system(found).expect_err("nobody to trust").to_string();
            for said in [
                "`ca-certificates`",
                "`SSL_CERT_FILE`",
                "`root_certificates`",
            ] {
                assert!(error.contains(said), "{error}");
            }
        }
    }
}
