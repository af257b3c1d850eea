//! Certificates for tests, made with the `openssl` command, which Dovecot's package brings along.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An authority, and what it signed: a certificate for localhost, and one that has expired.
#[derive(Debug)]
pub struct Certificates {
    folder: PathBuf,
}

const SETTINGS: &str = "\
[ca]
default_ca = authority
[authority]
database = index.txt
new_certs_dir = .
serial = serial
default_md = sha256
policy = names
x509_extensions = server
unique_subject = no
[names]
commonName = supplied
[server]
subjectAltName = DNS:localhost,IP:127.0.0.1
extendedKeyUsage = serverAuth
";

impl Certificates {
    /// Makes them in a folder.
    pub fn make(folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let folder = folder.canonicalize().unwrap();
        fs::write(folder.join("ca.cnf"), SETTINGS).unwrap();
        fs::write(folder.join("index.txt"), "").unwrap();
        fs::write(folder.join("serial"), "03\n").unwrap();
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        for authority in ["ca", "other"] {
            openssl(
                &folder,
                &format!(
                    "req -x509 {key} -keyout {authority}.key -out {authority}.pem -days 30 -subj /CN=Test-{authority} -addext keyUsage=critical,keyCertSign"
                ),
            );
        }
        openssl(
            &folder,
            &format!("req {key} -keyout server.key -out server.csr -subj /CN=localhost"),
        );
        for (name, dates) in [
            ("server", "-days 30"),
            (
                "expired",
                "-startdate 20200101000000Z -enddate 20200201000000Z",
            ),
        ] {
            openssl(
                &folder,
                &format!(
                    "ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in server.csr {dates} -out {name}.pem"
                ),
            );
        }
        Self { folder }
    }

    /// The authority that signed the certificates.
    pub fn authority(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// An authority that signed nothing.
    pub fn other_authority(&self) -> PathBuf {
        self.folder.join("other.pem")
    }

    /// The certificate for localhost.
    pub fn server(&self) -> PathBuf {
        self.folder.join("server.pem")
    }

    /// The certificate for localhost that has expired.
    pub fn expired(&self) -> PathBuf {
        self.folder.join("expired.pem")
    }

    /// The key of both certificates.
    pub fn key(&self) -> PathBuf {
        self.folder.join("server.key")
    }
}

fn openssl(folder: &Path, args: &str) {
    let run = Command::new("openssl")
        .args(args.split(' '))
        .current_dir(folder)
        .output()
        .expect("openssl is needed; Debian has it in the package openssl");
    assert!(
        run.status.success(),
        "openssl {args}: {}",
        String::from_utf8_lossy(&run.stderr)
    );
}
