//! What of a message is seldom asked for: it can be put `aside`, and stands at the beginning of its record in the `cache`.

use twicetold_mail::{Wants, read_wanted};
use twicetold_methods::winnow::Winnow;
use twicetold_model::{Digest, Document, Problem, RawMessage, Segment, SegmentKind};

use crate::cache::{Reader, Writer, problems, read_problems};
use crate::record::Told;

/// What of a message is seldom asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seldom {
    pub(crate) detail: Detail,
    pub(crate) shown: Shown,
    /// What its lines are for: whoever reads it again need not find that out again.
    pub(crate) segments: Box<[Segment]>,
}

impl Seldom {
    /// Nothing but what a report shows.
    pub(crate) fn showing(shown: Shown) -> Self {
        Self {
            shown,
            ..Self::default()
        }
    }

    /// Writes it so that each part of it can be read without those behind it.
    pub(crate) fn write(&self, out: &mut Writer) {
        self.shown.write(out);
        segments(out, &self.segments);
        self.detail.write(out);
    }

    /// What was written so.
    pub(crate) fn read(from: &mut Reader<'_>) -> Option<Self> {
        let shown = Shown::read(from)?;
        let segments = read_segments(from)?.into();
        let detail = Detail::read(from)?;
        Some(Self {
            detail,
            shown,
            segments,
        })
    }

    /// The detail alone.
    pub(crate) fn read_detail(from: &mut Reader<'_>) -> Option<Detail> {
        Shown::skip(from)?;
        read_segments(from)?;
        Detail::read(from)
    }

    /// Passes over what stands behind what is [shown](Shown); whether the hash of a sentence, or a word pair or fact of the detail, is one that is asked for.
    pub(crate) fn pass(
        from: &mut Reader<'_>,
        sentence: impl Fn(u64) -> bool,
        number: impl Fn(u32) -> bool,
    ) -> Option<bool> {
        for _ in 0..from.number()? {
            from.raw(2)?;
            from.number()?;
            from.number()?;
        }
        let mut found = false;
        for _ in 0..from.number()? {
            found |= sentence(from.hash()?);
            for _ in 0..3 {
                from.number()?;
            }
            from.byte()?;
        }
        from.each_half()?.for_each(|one| found |= number(one));
        Some(found)
    }

    /// The segments alone.
    pub(crate) fn read_segments(from: &mut Reader<'_>) -> Option<Vec<Segment>> {
        Shown::skip(from)?;
        read_segments(from)
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn size(&self) -> usize {
        let Self {
            detail,
            shown,
            segments,
        } = self;
        size_of_val(&*detail.told)
            + size_of_val(&*detail.numbers)
            + size_of_val(&**segments)
            + shown.size()
    }
}

/// What a report shows of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) message_id: Option<String>,
    pub(crate) subject: String,
    pub(crate) from: String,
    /// Checksum of its text to the letter, its attachments and links: who has the same one is a copy, proved.
    pub(crate) digest: Digest,
    pub(crate) problems: Vec<Problem>,
}

impl Shown {
    /// Of a document whose text has this checksum.
    pub(crate) fn new(document: &Document, digest: Digest) -> Self {
        let envelope = &document.envelope;
        Self {
            message_id: envelope.message_id.clone(),
            subject: envelope.subject.clone(),
            from: envelope.from.clone(),
            digest,
            problems: document.problems.clone(),
        }
    }

    /// Of a message as it is now.
    pub(crate) fn of(raw: &RawMessage<'_>) -> Self {
        let document = read_wanted(raw.form, &raw.bytes, Wants::default());
        Self {
            message_id: document.envelope.message_id,
            subject: document.envelope.subject,
            from: document.envelope.from,
            problems: document.problems,
            digest: Digest::default(),
        }
    }

    /// Of a message of which this could not be read back.
    pub(crate) fn lost() -> Self {
        let what = "its subject and sender were put aside and could not be read back";
        Self {
            problems: vec![Problem::new(what)],
            ..Self::default()
        }
    }

    pub(crate) fn write(&self, to: &mut Writer) {
        let mut out = Writer::with_room_for(self.size());
        out.maybe(self.message_id.as_deref(), Writer::text);
        out.text(&self.subject);
        out.text(&self.from);
        out.raw(&self.digest);
        problems(&mut out, &self.problems);
        // Whoever wants what stands behind it passes over it.
        to.number(out.bytes.len() as u64);
        to.raw(&out.bytes);
    }

    /// What is made of the message id and of the sender; the rest is passed over.
    pub(crate) fn read_names<T, F>(
        from: &mut Reader<'_>,
        id: impl FnOnce(&str) -> T,
        sender: impl FnOnce(&str) -> F,
    ) -> Option<(Option<T>, F)> {
        let length = from.number()?.try_into().ok()?;
        let mut own = Reader::new(from.raw(length)?);
        let id = own.maybe(Reader::str)?.map(id);
        own.str()?;
        let sender = own.str().map(sender)?;
        Some((id, sender))
    }

    /// Passes over one.
    pub(crate) fn skip(from: &mut Reader<'_>) -> Option<()> {
        let length = from.number()?.try_into().ok()?;
        from.raw(length).map(drop)
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.number()?;
        Some(Self {
            message_id: from.maybe(Reader::text)?,
            subject: from.text()?,
            from: from.text()?,
            digest: from.digest()?,
            problems: read_problems(from)?,
        })
    }

    /// About how many bytes of memory it takes.
    fn size(&self) -> usize {
        let texts = [
            self.message_id.as_deref().unwrap_or_default(),
            &self.subject,
            &self.from,
        ];
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>()
    }
}

/// What finding candidates needs to know of the message that is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    /// Its sentences, packaging included, in the order of the text.
    pub(crate) told: Box<[Told]>,
    /// The word pairs and facts of its content, sentence by sentence in the order of the text: half of the number of each.
    pub(crate) numbers: Box<[u32]>,
    /// Its fingerprints, if they are not made of those pairs but of numbers by first appearance.
    pub(crate) numbered: Option<Box<[u32]>>,
}

/// A sentence with what is remembered of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sentence<'d> {
    pub(crate) told: Told,
    /// Its word pairs, as far as they take part in fingerprints.
    pub(crate) pairs: &'d [u32],
    /// Its facts: each stands wherever the sentence does.
    pub(crate) facts: &'d [u32],
}

impl Detail {
    fn write(&self, out: &mut Writer) {
        told(out, &self.told);
        out.halves(&self.numbers);
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            told: read_told(from)?.into(),
            numbers: from.halves()?.into(),
            numbered: None,
        })
    }

    /// Each sentence with its pairs and facts.
    pub(crate) fn sentences(&self) -> impl Iterator<Item = Sentence<'_>> {
        let mut rest: &[u32] = &self.numbers;
        let mut next = move |count: usize| rest.split_off(..count).unwrap_or_default();
        self.told.iter().map(move |&told| Sentence {
            told,
            pairs: next(told.pairs as usize),
            facts: next(told.facts()),
        })
    }

    /// How many fingerprints the pairs have.
    pub(crate) fn count_fingerprints(&self, winnow: Winnow) -> u32 {
        let counts = self
            .sentences()
            .map(|sentence| winnow.count(sentence.pairs));
        counts.sum::<usize>() as u32
    }

    /// The fingerprints of its content, in the order of the text.
    pub(crate) fn fingerprints(&self, winnow: Winnow) -> Vec<u32> {
        if let Some(numbered) = &self.numbered {
            return numbered.to_vec();
        }
        let mut fingerprints = Vec::with_capacity(self.numbers.len());
        for sentence in self.sentences() {
            winnow.append(sentence.pairs, &mut fingerprints);
        }
        fingerprints
    }
}

/// The kinds of segments, in the order of the numbers that stand for them.
const KINDS: [SegmentKind; 7] = [
    SegmentKind::Own,
    SegmentKind::Quoted,
    SegmentKind::Attribution,
    SegmentKind::Greeting,
    SegmentKind::Closing,
    SegmentKind::Signature,
    SegmentKind::Boilerplate,
];

/// Writes segments: each by how far it is from the one before it, and how long.
fn segments(out: &mut Writer, segments: &[Segment]) {
    let mut before = 0;
    out.list(segments.iter(), |out, segment| {
        let kind = KINDS.iter().position(|&kind| kind == segment.kind);
        out.byte(kind.map_or(u8::MAX, |number| number as u8));
        out.byte(segment.depth);
        out.number(u64::from(segment.start.wrapping_sub(before)));
        out.number(u64::from(segment.end.wrapping_sub(segment.start)));
        before = segment.end;
    });
}

/// Segments that were written so.
fn read_segments(from: &mut Reader<'_>) -> Option<Vec<Segment>> {
    let mut before = 0_u32;
    from.list(|from| {
        let kind = *KINDS.get(usize::from(from.byte()?))?;
        let depth = from.byte()?;
        let start = before.checked_add(from.small()?)?;
        let end = start.checked_add(from.small()?)?;
        before = end;
        Some(Segment {
            kind,
            depth,
            start,
            end,
        })
    })
}

/// Sentences.
fn told(out: &mut Writer, told: &[Told]) {
    out.list(told.iter(), |out, told| {
        out.hash(told.hash);
        out.number(u64::from(told.len()));
        out.number(u64::from(told.pairs));
        out.number(told.facts() as u64);
        out.flags([told.is_content(), told.answers()]);
    });
}

/// Sentences that were written so.
fn read_told(from: &mut Reader<'_>) -> Option<Vec<Told>> {
    from.list(|from| {
        let hash = from.hash()?;
        let [len, pairs, facts] = [from.small()?, from.small()?, from.small()?];
        let [content, answers] = from.flags()?;
        let told = Told::new(hash, len as usize, pairs as usize, facts as usize);
        Some(told.marked(content, answers))
    })
}
