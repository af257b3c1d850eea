use super::*;

fn parsed(text: &str) -> Result<Profiles, ConfigError> {
    Profiles::parse(Path::new("accounts.toml"), text)
}

const WORK: &str = "# mine\n[accounts.work]\nhost = \"imap.example.org\" # the server\nuser = \"anna\"\npassword = \"env:WORK\"\n";

#[test]
fn what_is_left_out_is_usual() {
    let profiles = parsed(WORK).unwrap();
    let work = profiles.get("work").unwrap();
    assert_eq!(
        (work.port, work.tls, work.protocol),
        (993, Tls::Implicit, Protocol::Imap)
    );
    assert_eq!(work.login, Login::Password(Source::Env("WORK".into())));
    assert_eq!((work.jobs, work.timeout.as_secs()), (4, 60));
    let other = parsed(
        "[accounts.b]\nprotocol='pop3'\ntls='starttls'\nhost='h'\nuser='u'\noauth2='command:t'",
    )
    .unwrap();
    let other = other.get("b").unwrap();
    assert_eq!(
        (other.port, &other.login),
        (110, &Login::OAuth2("t".into()))
    );
}

#[test]
fn mistakes_are_told_with_line_and_field_and_never_with_a_password() {
    let base = "[accounts.work]\nhost = 'h'\nuser = 'u'\n";
    let cases = [
        (
            "password = 'hunter2'",
            4,
            "accounts.work.password must say where",
        ),
        ("password = 'hunter2", 4, ""),
        (
            "pasword = 'hunter2'",
            4,
            "accounts.work.pasword is no setting",
        ),
        (
            "password = ['hunter2']",
            4,
            "accounts.work.password must be text",
        ),
        ("port = 'hunter2'", 4, "accounts.work.port must be a number"),
        ("port = 0", 4, "accounts.work.port must be"),
        ("port = 70000", 4, "accounts.work.port must be"),
        (
            "tls = 'hunter2'",
            4,
            "accounts.work.tls must be implicit, starttls or none",
        ),
        (
            "protocol = 'smtp'",
            4,
            "accounts.work.protocol must be imap or pop3",
        ),
        ("jobs = 0", 4, "accounts.work.jobs must be"),
        ("timeout = 0", 4, "accounts.work.timeout must be"),
        (
            "folders = 'hunter2'",
            4,
            "accounts.work.folders must be a list",
        ),
        (
            "password = 'prompt'\noauth2 = 'command:x'",
            5,
            "accounts.work.oauth2 and password",
        ),
        (
            "oauth2 = 'hunter2'",
            4,
            "accounts.work.oauth2 must be command:",
        ),
        ("[other]\na = 1", 4, "other is no setting"),
        (
            "[accounts.'../x']\nhost='h'\nuser='u'",
            4,
            "is no name for an account",
        ),
        ("[accounts.b]\nuser = 'u'", 4, "accounts.b: host is missing"),
    ];
    for (more, line, what) in cases {
        let error = parsed(&format!("{base}{more}\n")).unwrap_err();
        assert_eq!(error.line, Some(line), "{more}: {error}");
        assert!(error.what.contains(what), "{more}: {error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}

#[test]
fn adding_and_removing_leave_the_rest_as_it_was() {
    let folder = std::env::temp_dir().join(format!("twicetold-profiles-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    let file = folder.join("deep/accounts.toml");
    let mut none = Profiles::read(&file).unwrap();
    let mut profile = parsed(WORK).unwrap().get("work").unwrap().clone();
    none.add(&profile).unwrap();
    assert_eq!(Profiles::read(&file).unwrap().get("work"), Some(&profile));
    assert!(none.add(&profile).is_err());

    fs::write(&file, WORK).unwrap();
    let mut profiles = Profiles::read(&file).unwrap();
    profile.name = "home".into();
    profile.folders = vec!["INBOX".into(), "a \"b\" \\ ü/*".into()];
    profile.jobs = 2;
    profile.authorities = Some("/etc/ca.pem".into());
    profiles.add(&profile).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.starts_with(WORK), "{text}");
    assert_eq!(Profiles::read(&file).unwrap().get("home"), Some(&profile));
    profiles.remove("home").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), WORK);
    assert!(profiles.remove("home").is_err());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }
    profile.host = "not a host".into();
    assert!(profiles.add(&profile).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), WORK);
    fs::remove_dir_all(&folder).unwrap();
}
