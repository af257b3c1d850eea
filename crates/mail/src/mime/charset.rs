//! Bytes to characters: what the label says, if the bytes agree; otherwise a guess.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, REPLACEMENT, SHIFT_JIS, UTF_8,
    UTF_16BE, UTF_16LE, WINDOWS_1252,
};
use memchr::memmem;
use twicetold_model::Problem;

use super::shifted;

/// A guess needs no more than this many bytes of lines that are not ASCII.
const SAMPLE: usize = 16 * 1024;

/// A way to turn bytes into characters.
#[derive(Clone, Copy)]
pub(super) enum Charset {
    Standard(&'static Encoding),
    Utf7,
    HzGb2312,
    Iso2022Kr,
}

/// Labels in use that the Encoding Standard leaves out.
const ALIASES: [(&str, &str); 19] = [
    ("euc-cn", "gbk"),
    ("cp936", "gbk"),
    ("936", "gbk"),
    ("gb", "gbk"),
    ("gb18030-2000", "gb18030"),
    ("gb_2312", "gbk"),
    ("cp932", "shift_jis"),
    ("shift-jis-2004", "shift_jis"),
    ("iso-2022-jp-2", "iso-2022-jp"),
    ("iso-2022-jp-ms", "iso-2022-jp"),
    ("cp50220", "iso-2022-jp"),
    ("cp949", "euc-kr"),
    ("ks_c_5601", "euc-kr"),
    ("cp950", "big5"),
    ("big5-hkscs:2004", "big5"),
    ("utf-8-mac", "utf-8"),
    ("utf8mb4", "utf-8"),
    ("cp-866", "ibm866"),
    ("latin-1", "iso-8859-1"),
];

/// Finds the character set of a label; `None` if nobody knows it.
pub(super) fn lookup(label: &str) -> Option<Charset> {
    let label = label.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
    let label = label.strip_prefix("charset=").unwrap_or(&label);
    match label {
        "utf-7" | "utf7" | "unicode-1-1-utf-7" | "x-unicode-2-0-utf-7" => {
            return Some(Charset::Utf7);
        }
        "hz-gb-2312" | "hz-gb2312" | "hz" => return Some(Charset::HzGb2312),
        "iso-2022-kr" | "csiso2022kr" => return Some(Charset::Iso2022Kr),
        _ => {}
    }
    let label = ALIASES
        .iter()
        .find(|(alias, _)| *alias == label)
        .map_or(label, |a| a.1);
    let found = Encoding::for_label(label.as_bytes())
        .or_else(|| {
            // "windows1251", "cp-1251", "iso8859_1", "win-1252"
            let digits = label.trim_start_matches(|c: char| !c.is_ascii_digit());
            let family = &label[..label.len() - digits.len()];
            let name = match family.trim_end_matches(['-', '_', ' ']) {
                "windows" | "cp" | "win" | "ansi" | "ms" => format!("windows-{digits}"),
                "iso" | "latin" => format!("iso-{}", digits.replace('_', "-")),
                // "chinesebig5", "gb2312_charset"
                _ => {
                    let families = ["big5", "gb2312", "gbk", "gb18030", "shift_jis", "koi8-r"];
                    (*families.iter().find(|family| label.contains(**family))?).to_owned()
                }
            };
            Encoding::for_label(name.as_bytes())
        })
        .filter(|encoding| *encoding != REPLACEMENT)?;
    Some(Charset::Standard(if found == GBK {
        GB18030
    } else {
        found
    }))
}

/// Whether a label says that its writer did not know.
fn says_nothing(label: &str) -> bool {
    let label = label.trim().to_ascii_lowercase();
    matches!(
        label.as_str(),
        "" | "charset="
            | "x-unknown"
            | "unknown-8bit"
            | "unknown"
            | "x-user-defined"
            | "binary"
            | "default"
            | "_iso-2022-jp$esc"
            | "default_charset"
            | "none"
            | "8bit"
            | "7bit"
    )
}

/// Decodes bytes by their label, or by a guess where the label is missing, unknown or wrong.
///
/// `hint` is a label from elsewhere in the message, the first thing to try for a guess. A byte order
/// mark goes. The problem tells of a label that nobody knows.
pub(super) fn decode<'a>(
    bytes: &'a [u8],
    label: Option<&str>,
    hint: Option<&str>,
) -> (Cow<'a, str>, Option<Problem>) {
    let label = label.filter(|label| !says_nothing(label));
    let charset = label.and_then(lookup);
    if let Some(Charset::Standard(encoding)) = charset
        && (encoding == UTF_16BE || encoding == UTF_16LE)
    {
        return (decode_utf16(bytes, encoding), None);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xEF\xBB\xBF")
        && let Ok(text) = std::str::from_utf8(rest)
    {
        return (Cow::Borrowed(text), None);
    }
    match charset {
        Some(Charset::Utf7) => return (Cow::Owned(shifted::utf7(bytes)), None),
        Some(Charset::HzGb2312) => return (Cow::Owned(shifted::hz(bytes)), None),
        Some(Charset::Iso2022Kr) => return (Cow::Owned(shifted::iso_2022_kr(bytes)), None),
        _ => {}
    }
    let ascii = Encoding::ascii_valid_up_to(bytes) == bytes.len();
    if ascii && memchr::memchr(0x1b, bytes).is_none() {
        // ASCII is UTF-8, so this is never lossy; the check is the quick one.
        let text = std::str::from_utf8(bytes).map(Cow::Borrowed);
        return (
            text.unwrap_or_else(|_| String::from_utf8_lossy(bytes)),
            None,
        );
    }
    match charset {
        Some(Charset::Standard(encoding)) if encoding != UTF_8 => {
            // us-ascii is windows-1252 to the Encoding Standard; what is not ASCII is a guess.
            let claims_ascii = label.is_some_and(|l| l.to_ascii_lowercase().contains("ascii"));
            if !claims_ascii {
                return (decode_standard(bytes, encoding), None);
            }
            (guess(bytes, hint).0, None)
        }
        Some(_) => (guess(bytes, hint).0, None),
        None => {
            let (text, name) = guess(bytes, hint);
            let problem = label.map(|label| {
                let label = super::clean::short(label);
                Problem::new(format!("unknown charset \"{label}\", guessed {name}"))
            });
            (text, problem)
        }
    }
}

/// Decodes by the Encoding Standard, which calls two escapes in a row an error; in ISO-2022-JP that
/// happens wherever a line was cut between two characters.
fn decode_standard<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Cow<'a, str> {
    const ASCII_AND_BACK: &[u8] = b"\x1b(B\x1b$B";
    if encoding != ISO_2022_JP || memmem::find(bytes, ASCII_AND_BACK).is_none() {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    let mut joined = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for at in memmem::find_iter(bytes, ASCII_AND_BACK) {
        joined.extend_from_slice(&bytes[start..at]);
        start = at + ASCII_AND_BACK.len();
    }
    joined.extend_from_slice(&bytes[start..]);
    Cow::Owned(encoding.decode_without_bom_handling(&joined).0.into_owned())
}

fn decode_utf16<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Cow<'a, str> {
    // Mail labelled UTF-16 whose bytes are plain ASCII was relabelled on its way.
    if !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok() {
        return String::from_utf8_lossy(bytes);
    }
    encoding.decode(bytes).0
}

/// Decodes bytes of an unknown character set, and names the one taken.
fn guess<'a>(bytes: &'a [u8], hint: Option<&str>) -> (Cow<'a, str>, String) {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return (
            encoding.decode(bytes).0,
            encoding.name().to_ascii_lowercase(),
        );
    }
    let start = Encoding::ascii_valid_up_to(bytes);
    let escapes = memchr::memchr(0x1b, bytes).is_some();
    if !escapes && let Ok(text) = std::str::from_utf8(bytes) {
        return (Cow::Borrowed(text), "utf-8".to_owned());
    }
    if start < bytes.len() && nearly_utf8(&bytes[start..]) {
        return (String::from_utf8_lossy(bytes), "utf-8".to_owned());
    }
    let hinted = hint.and_then(lookup).and_then(|charset| match charset {
        Charset::Standard(encoding) if encoding != WINDOWS_1252 => Some(encoding),
        _ => None,
    });
    if let Some(encoding) = hinted
        && let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes)
    {
        return (text, encoding.name().to_ascii_lowercase());
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&telling_lines(bytes), true);
    let encoding = detector.guess(None, Utf8Detection::Allow);
    let encoding = if encoding == GBK { GB18030 } else { encoding };
    let (text, errors) = encoding.decode_without_bom_handling(bytes);
    if errors {
        // What does not fit is the wrong guess where another one fits.
        for other in [GB18030, BIG5, SHIFT_JIS, EUC_KR, EUC_JP] {
            if let Some(text) = other.decode_without_bom_handling_and_without_replacement(bytes) {
                return (text, other.name().to_ascii_lowercase());
            }
        }
    }
    (text, encoding.name().to_ascii_lowercase())
}

/// The first lines that are not ASCII; the others tell nothing, and guessing is slow.
fn telling_lines(bytes: &[u8]) -> Vec<u8> {
    let mut sample = Vec::new();
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        if line.is_ascii() && !line.contains(&0x1b) {
            continue;
        }
        let line = line.get(..SAMPLE).unwrap_or(line);
        sample.extend_from_slice(line);
        if sample.len() >= SAMPLE {
            break;
        }
    }
    sample
}

/// Whether the bytes are UTF-8 but for a few that were cut or damaged.
fn nearly_utf8(bytes: &[u8]) -> bool {
    let sample = bytes.get(..64 * 1024).unwrap_or(bytes);
    let (mut good, mut bad) = (0usize, 0usize);
    for chunk in sample.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good > bad * 5
}
