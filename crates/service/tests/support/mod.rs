//! Mails written for the tests, and servers to keep campaigns on.

// Every test file uses its own part of this, and a failing step is to fail the test.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout)]

pub(crate) mod servers;

use std::path::{Path, PathBuf};

use twicetold_model::Form;
use twicetold_service::{Embedded, Engine, Sketches, Trust};

/// When the tests play.
pub(crate) const NOW: i64 = 1_000_000_000;
pub(crate) const DAY: i64 = 86_400;

/// Spam of four invented campaigns.
pub(crate) const SPAM: [&str; 4] = [
    "Dear homeowner, our underwriters approved your refinancing at a fixed three percent regardless of \
     bankruptcy or previous rejection. Mortgage brokers compete overnight for your application. Simply \
     complete the one-minute questionnaire, no appraisal, no closing costs, and unlock the equity trapped \
     inside your property before the federal window expires. Thousands of families already consolidated \
     their credit cards, renovated kitchens and paid tuition. Our licensed counsellors telephone you \
     within the hour and never charge upfront commissions.",
    "Discover the miraculous Andean root that melts stubborn belly fat while you sleep! Laboratory volunteers \
     lost eleven kilograms in four weeks without starvation or gymnasium torture. Doctor Valderrama's \
     capsules accelerate metabolism, suppress sugar cravings and restore youthful energy. Order two bottles \
     tonight and receive the nutritional cookbook plus a discreet pillbox absolutely gratis. Shipment leaves \
     our pharmacy in unmarked parcels. Satisfaction guaranteed or your money returned, even for empty bottles.",
    "I am Barrister Okonkwo Ademola, attorney to the late engineer Ferdinand Kruger who perished with his \
     family in the Concorde disaster. He deposited twenty-two million dollars in a security vault at our \
     correspondent bank, and no relative has come forward. The board intends to confiscate the estate unless \
     I present a beneficiary. I propose that you stand as next of kin, for which forty percent of the sum \
     shall be yours. Kindly send your telephone, banking particulars and utmost confidentiality by return.",
    "Genuine Helvetian chronographs at a fraction of boutique prices! Automatic movements, sapphire crystal, \
     engraved serial numbers and velvet presentation cases, indistinguishable from pieces costing thousands. \
     Choose Calatrava, Submariner, Seamaster or Navitimer from our warehouse catalogue. Anniversary promotion: \
     buy any pair and the courier is complimentary worldwide. Jewellers themselves cannot tell. Collectors \
     applaud our craftsmanship, and every wristwatch ships with a two-year replacement warranty.",
];

/// Honest mail.
pub(crate) const HAM: [&str; 4] = [
    "Hello Anna, the minutes of Tuesday's meeting are on the shared drive. Could you check the part about the \
     boiler and add the plumber's estimate before Friday? I would like to send them to the tenants on Monday. \
     Thanks, Jonas",
    "Our mortgage adviser wrote back: the fixed rate is three percent for ten years, and the bank wants an \
     appraisal of the house first. Shall we meet him on Thursday after work? Bring the insurance papers please.",
    "Hi all, practice is at seven in the small gym because the big one is being painted. Please bring indoor \
     shoes and the key to the locker. The tournament in Bergen is confirmed for the second weekend of March.",
    "Thank you for your order. Your parcel with two books has left our warehouse today and should reach you \
     within three working days. You can follow it with the number on your receipt. Your bookshop on the corner",
];

/// A plain message with this text.
pub(crate) fn mail(text: &str) -> Sketches {
    with_headers("", text)
}

/// A plain message with more headers.
pub(crate) fn with_headers(headers: &str, text: &str) -> Sketches {
    let trust = Trust {
        authentication_server: Some("mx.example.org".to_owned()),
    };
    let message = format!("From: somebody@example.net\nSubject: x\n{headers}\n{text}\n");
    Sketches::of(Form::Mail, message.as_bytes(), &trust)
}

/// An HTML message.
pub(crate) fn html(body: &str) -> Sketches {
    let message = format!("From: a@example.net\nContent-Type: text/html\n\n{body}\n");
    Sketches::of(Form::Mail, message.as_bytes(), &Trust::default())
}

/// Random numbers that are the same every time.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }
}

/// The text with so many percent of its words replaced, dropped or followed by another one.
pub(crate) fn changed(text: &str, percent: usize, seed: u64) -> String {
    let mut dice = Dice(seed);
    let others: Vec<&str> = HAM.iter().flat_map(|ham| ham.split_whitespace()).collect();
    let mut out = Vec::new();
    for word in text.split_whitespace() {
        if dice.next(100) >= percent {
            out.push(word);
            continue;
        }
        let other = others[dice.next(others.len())];
        match dice.next(3) {
            0 => out.push(other),
            1 => out.extend([word, other]),
            _ => {}
        }
    }
    out.join(" ")
}

/// A text that nobody else has: words made of syllables.
pub(crate) fn invented(seed: u64, words: usize) -> String {
    const SYLLABLES: [&str; 24] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "qui", "ro", "su",
        "ta", "ve", "wi", "xo", "yu", "za", "ster", "lin", "mor",
    ];
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut out = String::new();
    for _ in 0..words {
        for _ in 0..2 + dice.next(3) {
            out += SYLLABLES[dice.next(SYLLABLES.len())];
        }
        out.push(' ');
    }
    out
}

/// An engine that forgets everything.
pub(crate) fn engine() -> Engine {
    Engine::new(Box::new(Embedded::in_memory().unwrap()))
}

/// A fresh folder for one test, below the build folder; removed when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
