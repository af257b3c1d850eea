//! What spammers do to a text, so that it is not recognised.

use super::Body;
use crate::Dice;

/// A kind of change: its name, whether only HTML can be changed so, and the share that is changed.
pub struct Variant {
    /// The name.
    pub name: &'static str,
    /// Whether it changes markup.
    pub html: bool,
    how: How,
}

#[derive(Clone, Copy)]
enum How {
    /// A word replaced, one added or one dropped.
    Mixed(f64),
    /// A word replaced.
    Replace(f64),
    /// Letters replaced by look-alikes.
    Letters(f64),
    /// Honest sentences added, as a share of the text.
    Padding(f64),
    /// Tags that show nothing.
    Tags(f64),
    /// Random classes.
    Classes(f64),
    /// Links to another domain.
    Domains,
}

/// Every kind, in the order in which it is reported.
pub const VARIANTS: &[Variant] = &[
    Variant {
        name: "substitute 10 %",
        html: false,
        how: How::Replace(0.1),
    },
    Variant {
        name: "mixed 5 %",
        html: false,
        how: How::Mixed(0.05),
    },
    Variant {
        name: "mixed 10 %",
        html: false,
        how: How::Mixed(0.1),
    },
    Variant {
        name: "mixed 20 %",
        html: false,
        how: How::Mixed(0.2),
    },
    Variant {
        name: "letters 15 %",
        html: false,
        how: How::Letters(0.15),
    },
    Variant {
        name: "padding +50 %",
        html: false,
        how: How::Padding(0.5),
    },
    Variant {
        name: "padding +100 %",
        html: false,
        how: How::Padding(1.0),
    },
    Variant {
        name: "tags 1 %",
        html: true,
        how: How::Tags(0.01),
    },
    Variant {
        name: "tags 5 %",
        html: true,
        how: How::Tags(0.05),
    },
    Variant {
        name: "classes 10 %",
        html: true,
        how: How::Classes(0.1),
    },
    Variant {
        name: "domains",
        html: true,
        how: How::Domains,
    },
    Variant {
        name: "all words",
        html: true,
        how: How::Replace(1.0),
    },
];

/// Words and sentences of honest mail, to change spam with.
#[derive(Clone, Debug, Default)]
pub struct Mutator {
    /// Different words, sorted.
    pub words: Vec<String>,
    /// Sentences.
    pub sentences: Vec<String>,
}

impl Mutator {
    /// The words and sentences of some texts.
    pub fn new<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let mut mutator = Self::default();
        for text in texts {
            for sentence in text.split_inclusive(['.', '!', '?']) {
                let words = sentence.split_whitespace();
                if (7..40).contains(&words.clone().count()) && sentence.is_ascii() {
                    mutator.sentences.push(words.collect::<Vec<_>>().join(" "));
                    each_word(sentence, |word| {
                        mutator.words.push(word.to_ascii_lowercase())
                    });
                }
            }
        }
        mutator.words.sort();
        mutator.words.dedup();
        mutator
    }

    /// A changed copy of a body.
    pub fn change(&self, body: &Body, variant: &Variant, dice: &mut Dice) -> Body {
        let text = match variant.how {
            How::Mixed(rate) => self.words_of(body, dice, |mutator, word, dice| {
                if dice.unit() >= rate {
                    return word.to_owned();
                }
                match dice.below(3) {
                    0 => mutator.word(dice).to_owned(),
                    1 => format!("{word} {}", mutator.word(dice)),
                    _ => String::new(),
                }
            }),
            How::Replace(rate) => self.words_of(body, dice, |mutator, word, dice| {
                let changed = dice.unit() < rate;
                if changed { mutator.word(dice) } else { word }.to_owned()
            }),
            How::Letters(rate) => self.words_of(body, dice, |_, word, dice| {
                if dice.unit() < rate {
                    word.chars().map(disguised).collect()
                } else {
                    word.to_owned()
                }
            }),
            How::Padding(share) => self.padded(body, share, dice),
            How::Tags(rate) => {
                const EMPTY: [&str; 6] = [
                    "<b></b>",
                    "<span>",
                    "<font></font>",
                    "<i></i>",
                    "<div></div>",
                    "<br>",
                ];
                tags_of(&body.text, |tag| {
                    let more = if dice.unit() < rate {
                        EMPTY[dice.below(EMPTY.len())]
                    } else {
                        ""
                    };
                    format!("{tag}{more}")
                })
            }
            How::Classes(rate) => tags_of(&body.text, |tag| {
                if dice.unit() >= rate {
                    return tag.to_owned();
                }
                let end = tag[1..]
                    .find(|c: char| !c.is_ascii_alphanumeric())
                    .map_or(tag.len(), |at| at + 1);
                format!(
                    "{} class=\"x{:06x}\"{}",
                    &tag[..end],
                    dice.roll() >> 40,
                    &tag[end..]
                )
            }),
            How::Domains => elsewhere(&body.text, &format!("{:08x}.example", dice.roll() as u32)),
        };
        Body {
            text,
            ..body.clone()
        }
    }

    fn word(&self, dice: &mut Dice) -> &str {
        dice.pick(&self.words).map_or("word", String::as_str)
    }

    /// The text with each of its words changed; markup stays.
    fn words_of(
        &self,
        body: &Body,
        dice: &mut Dice,
        change: impl Fn(&Self, &str, &mut Dice) -> String,
    ) -> String {
        let mut out = String::with_capacity(body.text.len() * 5 / 4);
        let mut plain = |text: &str, out: &mut String| {
            let mut rest = text;
            while let Some((start, end)) = next_word(rest) {
                out.push_str(&rest[..start]);
                out.push_str(&change(self, &rest[start..end], dice));
                rest = &rest[end..];
            }
            out.push_str(rest);
        };
        if body.html {
            each_piece(&body.text, |piece, markup| {
                if markup {
                    out.push_str(piece)
                } else {
                    plain(piece, &mut out)
                }
            });
        } else {
            plain(&body.text, &mut out);
        }
        out
    }

    fn padded(&self, body: &Body, share: f64, dice: &mut Dice) -> String {
        let need = (visible_words(body).len() as f64 * share) as usize;
        let mut words: Vec<&str> = Vec::with_capacity(need + 40);
        while words.len() < need {
            let Some(sentence) = dice.pick(&self.sentences) else {
                break;
            };
            words.extend(sentence.split(' '));
        }
        words.truncate(need);
        let extra = words.join(" ");
        if body.html {
            format!("{}<p>{extra}</p>", body.text)
        } else {
            format!("{}\n\n{extra}\n", body.text)
        }
    }
}

/// The words of a body that a reader sees, in lower case.
pub(super) fn visible_words(body: &Body) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |text: &str| each_word(text, |word| words.push(word.to_ascii_lowercase()));
    if body.html {
        each_piece(&body.text, |piece, markup| {
            if !markup {
                add(piece)
            }
        });
    } else {
        add(&body.text);
    }
    words
}

fn disguised(letter: char) -> char {
    match letter.to_ascii_lowercase() {
        'a' => '@',
        'e' => '3',
        'i' => '1',
        'o' => '0',
        's' => '$',
        't' => '7',
        _ => letter,
    }
}

/// Where the next word of two or more letters is.
fn next_word(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let inside = |b: &u8| b.is_ascii_alphabetic() || *b == b'\'';
        let length = bytes[at..].iter().take_while(|b| inside(b)).count();
        if length >= 2 {
            return Some((at, at + length));
        }
        at += length;
    }
    None
}

fn each_word(text: &str, mut visit: impl FnMut(&str)) {
    let mut rest = text;
    while let Some((start, end)) = next_word(rest) {
        visit(&rest[start..end]);
        rest = &rest[end..];
    }
}

/// Hands over tags, scripts and styles (`true`) and the text between them.
fn each_piece(html: &str, mut visit: impl FnMut(&str, bool)) {
    let mut rest = html;
    while let Some(open) = rest.find('<') {
        if open > 0 {
            visit(&rest[..open], false);
        }
        rest = &rest[open..];
        let hidden = ["script", "style"].into_iter().find(|name| {
            rest.get(1..=name.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(name))
        });
        let end = match hidden {
            Some(name) => {
                let close = format!("</{name}");
                let lower = rest.to_ascii_lowercase();
                let from = lower.find(&close).unwrap_or(rest.len());
                rest[from..]
                    .find('>')
                    .map_or(rest.len(), |end| from + end + 1)
            }
            None => rest.find('>').map_or(rest.len(), |end| end + 1),
        };
        visit(&rest[..end], true);
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        visit(rest, false);
    }
}

/// The text with each of its start tags changed.
fn tags_of(html: &str, mut change: impl FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(html.len() * 5 / 4);
    each_piece(html, |piece, markup| {
        let starts = markup && piece.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic);
        if starts {
            out.push_str(&change(piece))
        } else {
            out.push_str(piece)
        }
    });
    out
}

/// The text with every link leading to another domain.
fn elsewhere(html: &str, domain: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find("://") {
        let start = at + 3;
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest
            .find(|c: char| matches!(c, '/' | '"' | '\'' | '>') || c.is_whitespace())
            .unwrap_or(rest.len());
        out.push_str(domain);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(name: &str, html: bool, text: &str) -> String {
        let mutator = Mutator::new(["The quiet river runs along seven old mills."].into_iter());
        let variant = VARIANTS
            .iter()
            .find(|variant| variant.name == name)
            .unwrap();
        let body = Body {
            html,
            text: text.to_owned(),
            subject: String::new(),
        };
        mutator.change(&body, variant, &mut Dice::new(1)).text
    }

    #[test]
    fn markup_stays_where_words_change() {
        let html = "<p class=\"price\">Cheap watches</p><style>cheap</style> today";
        let all = changed("all words", true, html);
        assert!(
            all.starts_with("<p class=\"price\">") && all.contains("<style>cheap</style>"),
            "{all}"
        );
        assert!(!all.contains("Cheap") && !all.contains("today"), "{all}");
    }

    #[test]
    fn each_kind_does_what_it_says() {
        let text = "cheap watches for everybody who waits ".repeat(40);
        assert!(changed("letters 15 %", false, &text).contains('@'));
        let count = |text: &str| text.split_whitespace().count();
        assert_eq!(
            count(&changed("padding +50 %", false, &text)),
            count(&text) * 3 / 2
        );
        assert_ne!(changed("mixed 20 %", false, &text), text);
        let html = "<a href=\"http://spam.example/x\">go</a>".repeat(60);
        assert!(!changed("domains", true, &html).contains("spam.example"));
        assert!(changed("domains", true, &html).contains("/x\">go</a>"));
        assert!(changed("classes 10 %", true, &html).contains("<a class=\"x"));
        assert!(changed("tags 5 %", true, &html).len() > html.len());
    }

    #[test]
    fn broken_markup_is_no_trouble() {
        for text in [
            "<", "a<b", "<script", "<style>x", "</", "<é>", "://", "x://", "<a é",
        ] {
            for variant in VARIANTS {
                changed(variant.name, true, text);
            }
        }
    }
}
