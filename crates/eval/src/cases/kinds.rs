//! The kinds of cases.

use xxhash_rust::xxh3::xxh3_64;

use super::draft::{Draft, paragraphs, quoted};
use super::sentences::{Stock, unit};
use crate::Dice;

/// A kind of case.
pub struct Kind {
    /// What it is called in the truth.
    pub name: &'static str,
    /// How many sentences its original needs.
    needs: usize,
    make: fn(&mut Making<'_>, &[String]),
}

/// Every kind: six in which something may go, and the traps.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "identical",
        needs: 4,
        make: |making, original| making.identical(original),
    },
    Kind {
        name: "almost",
        needs: 4,
        make: |making, original| making.almost(original),
    },
    Kind {
        name: "rearranged",
        needs: 6,
        make: |making, original| making.rearranged(original),
    },
    Kind {
        name: "quoted",
        needs: 4,
        make: |making, original| making.quoted(original),
    },
    Kind {
        name: "quoted-changed",
        needs: 6,
        make: |making, original| making.quoted_changed(original),
    },
    Kind {
        name: "combined",
        needs: 8,
        make: |making, original| making.combined(original),
    },
    Kind {
        name: "neg-partial",
        needs: 6,
        make: |making, original| making.partial(original),
    },
    Kind {
        name: "neg-version",
        needs: 4,
        make: |making, original| making.version(original),
    },
    Kind {
        name: "neg-attachment",
        needs: 4,
        make: |making, original| making.attachment(original),
    },
    Kind {
        name: "neg-short",
        needs: 0,
        make: |making, original| making.short(original),
    },
    Kind {
        name: "neg-template",
        needs: 0,
        make: |making, original| making.template(original),
    },
    Kind {
        name: "neg-long",
        needs: 16,
        make: |making, original| making.long(original),
    },
];

/// A message with what is true of it.
pub(super) struct Message {
    pub(super) draft: Draft,
    pub(super) case: String,
    pub(super) category: &'static str,
    pub(super) units: Vec<String>,
}

/// Where messages are made.
#[derive(Default)]
pub(super) struct Desk {
    pub(super) messages: Vec<Message>,
}

/// A case that is being made.
struct Making<'a> {
    desk: &'a mut Desk,
    case: &'a str,
    category: &'static str,
    /// Sentences that stand nowhere else.
    new: Vec<String>,
    dice: &'a mut Dice,
}

impl Desk {
    /// Makes a case of a kind; `false` if there are not enough sentences left.
    pub(super) fn make(
        &mut self,
        kind: &Kind,
        case: &str,
        stock: &mut Stock,
        dice: &mut Dice,
    ) -> bool {
        let original = match kind.needs {
            0 => Some(Vec::new()),
            needs => stock.take(needs),
        };
        let Some(original) = original else {
            return false;
        };
        let Some(new) = stock.take(4) else {
            stock.give_back(original);
            return false;
        };
        let mut making = Making {
            desk: self,
            case,
            category: kind.name,
            new,
            dice,
        };
        (kind.make)(&mut making, &original);
        true
    }
}

impl Making<'_> {
    fn draft(&mut self, subject: &str, body: String) -> Draft {
        let number = self.desk.messages.len();
        Draft {
            id: format!("<{number}.{:08x}@example.org>", self.dice.roll() as u32),
            from: format!("person{}@example.org", self.dice.below(9000) + 1000),
            subject: subject.to_owned(),
            minutes: self.dice.below(40_000),
            body,
            ..Draft::default()
        }
    }

    /// A message of a body that says these sentences.
    fn message(&mut self, subject: &str, body: String, says: &[&[String]]) -> Draft {
        let draft = self.draft(subject, body);
        self.put(draft, says, &[])
    }

    fn put(&mut self, draft: Draft, says: &[&[String]], more: &[String]) -> Draft {
        let mut units: Vec<String> = says
            .iter()
            .flat_map(|part| part.iter())
            .map(|one| unit(one))
            .collect();
        units.extend_from_slice(more);
        units.sort();
        units.dedup();
        self.desk.messages.push(Message {
            draft: draft.clone(),
            case: self.case.to_owned(),
            category: self.category,
            units,
        });
        draft
    }

    fn subject(&self) -> String {
        format!("About {}", self.case)
    }

    /// An answer with some new sentences above a quotation.
    fn answer(&mut self, to: &Draft, quotation: &str, new: &[String], says: &[String]) {
        let body = format!(
            "{}\nOn 1 Mar 2004, {} wrote:\n{}",
            paragraphs(new),
            to.from,
            quoted(quotation)
        );
        let mut draft = self.draft(&format!("Re: {}", to.subject), body);
        draft.answers = to.id.clone();
        draft.minutes = to.minutes + 30;
        self.put(draft, &[new, says], &[]);
    }

    fn identical(&mut self, original: &[String]) {
        let body = paragraphs(original);
        let subject = self.subject();
        for _ in 0..2 {
            self.message(&subject, body.clone(), &[original]);
        }
    }

    fn almost(&mut self, original: &[String]) {
        let subject = self.subject();
        self.message(&subject, paragraphs(original), &[original]);
        let mut copy = original.to_vec();
        if self.dice.below(2) == 0
            && let Some(changed) = copy
                .iter_mut()
                .find_map(|one| typo(one).map(|new| (one, new)))
        {
            *changed.0 = changed.1;
        }
        let body = format!("Dear all,\n\n{}\nKind regards,\nAnna\n", paragraphs(&copy));
        // A typing error does not change what is said.
        self.message(&subject, body, &[original]);
    }

    fn rearranged(&mut self, original: &[String]) {
        let subject = self.subject();
        self.message(&subject, paragraphs(original), &[original]);
        let half = original.len() / 2;
        let turned = [&original[half..], &original[..half]].concat();
        self.message(&subject, paragraphs(&turned), &[original]);
    }

    fn quoted(&mut self, original: &[String]) {
        let (subject, new) = (self.subject(), self.new.clone());
        let first = self.message(&subject, paragraphs(original), &[original]);
        self.answer(&first, &paragraphs(original), &new, original);
    }

    fn quoted_changed(&mut self, original: &[String]) {
        let (subject, new) = (self.subject(), self.new.clone());
        let first = self.message(
            &subject,
            format!("Hello Ben,\n\n{}", paragraphs(original)),
            &[original],
        );
        let half = original.len() / 2;
        let turned = [&original[half..], &original[..half]].concat();
        self.answer(&first, &paragraphs(&turned), &new, original);
    }

    fn combined(&mut self, original: &[String]) {
        let subject = self.subject();
        let first = self.message(&subject, paragraphs(original), &[original]);
        let half = original.len() / 2;
        let new = self.new.clone();
        let (some, other) = new.split_at(new.len() / 2);
        self.answer(
            &first,
            &paragraphs(&original[..half]),
            some,
            &original[..half],
        );
        self.answer(
            &first,
            &paragraphs(&original[half..]),
            other,
            &original[half..],
        );
    }

    fn partial(&mut self, original: &[String]) {
        let (subject, new) = (self.subject(), self.new.clone());
        let first = self.message(&subject, paragraphs(original), &[original]);
        let some = &original[..original.len() * 2 / 3];
        self.answer(&first, &paragraphs(some), &new, some);
    }

    fn version(&mut self, original: &[String]) {
        let subject = self.subject();
        let amount = self.dice.below(8000) + 1000;
        for more in [0, self.dice.below(90) + 1] {
            let mut text = original.to_vec();
            text.insert(
                original.len() / 2,
                format!("The amount to be paid is {} euro.", amount + more),
            );
            self.message(&subject, paragraphs(&text), &[&text]);
        }
    }

    fn attachment(&mut self, original: &[String]) {
        let subject = self.subject();
        for _ in 0..2 {
            let attached =
                format!("{:016x} {:016x}\n", self.dice.roll(), self.dice.roll()).repeat(8);
            let mut draft = self.draft(&subject, paragraphs(original));
            let named = format!("a:{:012x}", xxh3_64(attached.as_bytes()) >> 16);
            draft.attachment = Some(("table.bin".to_owned(), attached));
            self.put(draft, &[original], &[named]);
        }
    }

    /// The same few words in two conversations: what they say is what they answer.
    fn short(&mut self, _: &[String]) {
        const ANSWERS: [&str; 4] = [
            "Ok, thanks.\n",
            "Yes, that is fine with me.\n",
            "Agreed.\n",
            "Sounds good!\n",
        ];
        let answer = ANSWERS[self.dice.below(ANSWERS.len())];
        let new = self.new.clone();
        let (some, other) = new.split_at(new.len() / 2);
        for (n, part) in [some, other].into_iter().enumerate() {
            let subject = format!("{} {n}", self.subject());
            let first = self.message(&subject, paragraphs(part), &[part]);
            let mut draft = self.draft(&format!("Re: {subject}"), answer.to_owned());
            draft.answers = first.id;
            let only = format!("s:short-{}-{n}", self.case);
            self.put(draft, &[], &[only]);
        }
    }

    /// Confirmations that differ in what was ordered.
    fn template(&mut self, _: &[String]) {
        const THINGS: [&str; 6] = [
            "garden chair",
            "desk lamp",
            "road bicycle",
            "rain coat",
            "kitchen knife",
            "travel bag",
        ];
        for _ in 0..2 {
            let thing = THINGS[self.dice.below(THINGS.len())];
            let number = self.dice.below(900_000) + 100_000;
            let text = [
                "Thank you very much for your order from our shop.".to_owned(),
                format!("Your order number is {number} and you have ordered one {thing}."),
                "We will send it to the address that you gave us within three working days."
                    .to_owned(),
                "If anything is not right, please answer this message as soon as you can."
                    .to_owned(),
            ];
            self.message("Your order", paragraphs(&text), &[&text]);
        }
    }

    /// A long text they share, and one new sentence each.
    fn long(&mut self, original: &[String]) {
        let (subject, new) = (self.subject(), self.new.clone());
        for sentence in new.iter().take(2) {
            let mut text = original.to_vec();
            text.insert(original.len() / 2, sentence.clone());
            self.message(&subject, paragraphs(&text), &[&text]);
        }
    }
}

/// A sentence with two letters of a long word swapped; `None` if it has no long plain word.
fn typo(sentence: &str) -> Option<String> {
    let word = sentence.split(' ').skip(1).find(|word| {
        let bytes = word.as_bytes();
        bytes.len() >= 8 && bytes.iter().all(u8::is_ascii_lowercase) && bytes[3] != bytes[4]
    })?;
    let mut letters: Vec<char> = word.chars().collect();
    letters.swap(3, 4);
    Some(sentence.replacen(word, &letters.into_iter().collect::<String>(), 1))
}
