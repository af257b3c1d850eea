//! Whom to trust, and how an encrypted connection begins.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore};

use crate::fault::Fault;

/// The authorities that may vouch for a server: those of the file, or else those of the system.
///
/// A file replaces the system's list: who names the authority of a server means that one.
pub(crate) fn trust(authorities: Option<&Path>) -> Result<Arc<ClientConfig>, Fault> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(path) => {
            let bad = |cause: String| Fault::Authorities {
                place: path.display().to_string(),
                cause,
            };
            let pem = fs::read(path).map_err(|error| bad(error.to_string()))?;
            for certificate in CertificateDer::pem_slice_iter(&pem) {
                let certificate = certificate.map_err(|error| bad(error.to_string()))?;
                roots
                    .add(certificate)
                    .map_err(|error| bad(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(bad("there is no certificate in it".into()));
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
            if roots.is_empty() {
                let cause = found
                    .errors
                    .first()
                    .map_or_else(|| "none were found".to_owned(), ToString::to_string);
                return Err(Fault::Authorities {
                    place: "the system".into(),
                    cause,
                });
            }
        }
    }
    // The provider is named here, not taken from the process: no other library can change it.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Fault::Authorities {
            place: "the system".into(),
            cause: error.to_string(),
        })?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Begins TLS on a connection; when it returns, the server has proved who it is.
pub(crate) fn handshake<S: io::Read + io::Write>(
    trust: &Arc<ClientConfig>,
    host: &str,
    server: &str,
    socket: &mut S,
) -> Result<ClientConnection, Fault> {
    let failed = |cause: String| Fault::Tls {
        server: server.to_owned(),
        cause,
    };
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| failed(format!("{host} is no name of a server")))?;
    let mut tls = ClientConnection::new(Arc::clone(trust), name)
        .map_err(|error| failed(error.to_string()))?;
    while tls.is_handshaking() {
        tls.complete_io(socket)
            .map_err(|error| explain(error, server))?;
    }
    Ok(tls)
}

fn explain(error: io::Error, server: &str) -> Fault {
    if matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    ) {
        return Fault::Tls {
            server: server.to_owned(),
            cause: "the server did not answer in time; it may not speak TLS on this port".into(),
        };
    }
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(reason)) => Fault::Certificate {
            server: server.to_owned(),
            cause: certificate(reason),
        },
        Some(rustls::Error::InvalidMessage(_)) => Fault::Tls {
            server: server.to_owned(),
            cause: "what it sent is not TLS".into(),
        },
        Some(other) => Fault::Tls {
            server: server.to_owned(),
            cause: other.to_string(),
        },
        None => Fault::Tls {
            server: server.to_owned(),
            cause: error.to_string(),
        },
    }
}

fn certificate(reason: &CertificateError) -> String {
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet".into()
        }
        CertificateError::UnknownIssuer => "no authority that is trusted has signed it".into(),
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it belongs to another server".into()
        }
        other => other.to_string(),
    }
}
