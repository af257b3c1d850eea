//! Many small cases: a text, and the words found in it.

use twicetold_model::{Document, Envelope, Language, WordFlags, WordKind};

use super::{hash_of, read_words};

fn document(text: &str) -> Document {
    let segments = crate::segment::segment(text, &Envelope::default());
    let mut document = Document {
        text: text.to_owned(),
        segments,
        ..Document::default()
    };
    read_words(&mut document);
    document
}

fn written(document: &Document) -> Vec<&str> {
    document.words.iter().map(|w| document.word(w)).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(written(&document(text)), expected, "{text:?}");
}

#[test]
fn words_of_languages_with_spaces() {
    check("The quick, brown fox!", &["The", "quick", "brown", "fox"]);
    check("Größe naïve Ångström", &["Größe", "naïve", "Ångström"]);
    check("Привет, мир", &["Привет", "мир"]);
    check("e-mail and o'clock", &["e", "mail", "and", "o'clock"]);
    check("", &[]);
    check("-- ** !!", &[]);
}

#[test]
fn words_of_languages_without_spaces() {
    let chinese = document("我们明天开会讨论预算。");
    assert!(chinese.words.len() > 3, "{:?}", written(&chinese));
    assert!(document("ฉันจะไปตลาดพรุ่งนี้").words.len() > 2);
    assert!(document("明日は会議があります。").words.len() > 3);
}

#[test]
fn a_line_end_inside_chinese_changes_nothing() {
    let hashes = |text: &str| {
        document(text)
            .words
            .iter()
            .map(|w| w.hash)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        hashes("我们明天开会讨论预算"),
        hashes("我们明\n天开会讨\n论预算")
    );
    assert_eq!(
        hashes("我们明天开会讨论预算"),
        hashes("我\n们\n明天开会\n讨论\n预算")
    );
    assert_eq!(
        hashes("> 我们明天开会讨论预算"),
        hashes("> 我们明\n> 天开会讨论预算")
    );
}

#[test]
fn numbers_keep_their_marks() {
    check("at 10:45 on 9/11/2001", &["at", "10:45", "on", "9/11/2001"]);
    check("$1,234.50, 20% and -2.", &["$1,234.50", "20%", "and", "-2"]);
    check(
        "call 713-853-3989 (home)",
        &["call", "713-853-3989", "home"],
    );
    check("costs 5€ or €7", &["costs", "5", "or", "€7"]);
    check("room EB2601", &["room", "EB2601"]);
    let document = document("room EB2601, version 5.0.2");
    let kinds: Vec<_> = document.words.iter().map(|w| w.kind).collect();
    assert_eq!(
        kinds,
        [
            WordKind::Plain,
            WordKind::Number,
            WordKind::Plain,
            WordKind::Number
        ]
    );
}

#[test]
fn addresses_are_one_word() {
    check(
        "see http://a.example/b?c=d, or www.x.org.",
        &["see", "http://a.example/b?c=d", "or", "www.x.org"],
    );
    check("(https://a.example/x_(y))", &["https://a.example/x_(y)"]);
    check("write to a.b@c.example!", &["write", "to", "a.b@c.example"]);
    check("a@b.example<mailto:a@b.example>", &["a@b.example"]);
    check(
        "<http://x.example/> <http://x.example/>",
        &["http://x.example/"],
    );
    check("@ home", &["home"]);
}

#[test]
fn contractions_are_two_words() {
    let hashes = |text: &str| {
        document(text)
            .words
            .iter()
            .map(|w| w.hash)
            .collect::<Vec<_>>()
    };
    for (short, long) in [
        ("don't", "do not"),
        ("won't", "will not"),
        ("can’t", "can not"),
        ("cannot", "can not"),
        ("we'll", "we will"),
        ("they 'll", "they will"),
        ("I've", "I have"),
        ("it's", "it is"),
        ("salt & pepper", "salt and pepper"),
    ] {
        assert_eq!(hashes(short), hashes(long), "{short}");
    }
    check("Enron's", &["Enron's"]);
}

#[test]
fn denials_and_dates_are_facts() {
    let document = document("It isn't ready on Monday, never");
    let facts: Vec<_> = document
        .words
        .iter()
        .filter(|w| w.is_fact())
        .map(|w| document.word(w))
        .collect();
    assert_eq!(facts, ["n't", "Monday", "never"]);
    assert!(
        self::document("这个不好")
            .words
            .iter()
            .any(|w| w.flags.has(WordFlags::NEGATION))
    );
}

#[test]
fn a_list_number_is_known_by_its_place() {
    let numbered = |text: &str| {
        document(text)
            .words
            .iter()
            .filter(|w| w.flags.has(WordFlags::ENUMERATOR))
            .count()
    };
    assert_eq!(numbered("1. First\n2) Second\n"), 2);
    assert_eq!(numbered("That is done. 3. It goes on"), 1);
    assert_eq!(numbered("We need 5. Then we go"), 0);
    assert_eq!(numbered("in 2001. Then"), 0);
}

#[test]
fn articles_are_free_in_their_own_language_only() {
    let free = |text: &str| {
        let document = document(text);
        let free: Vec<_> = document
            .words
            .iter()
            .filter(|w| w.flags.has(WordFlags::FREE))
            .map(|w| document.word(w).to_owned())
            .collect();
        (document.language, free)
    };
    let (language, words) = free("we have to see if the plants will die in the cold");
    assert_eq!(
        (language, words),
        (Language::English, vec!["the".to_owned(), "the".to_owned()])
    );
    let (language, words) =
        free("wir haben auf die Antwort von der Bank gewartet und es ist noch nichts da");
    assert_eq!(
        (language, words),
        (Language::German, vec!["die".to_owned(), "der".to_owned()])
    );
}

#[test]
fn sentences_end_where_a_reader_would_stop() {
    let sentences = |text: &str| {
        let d = document(text);
        d.sentences
            .iter()
            .map(|s| {
                d.sentence_words(s)
                    .iter()
                    .map(|w| d.word(w))
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(
        sentences("We met. They left! Why? Nobody knows"),
        ["We met", "They left", "Why", "Nobody knows"]
    );
    assert_eq!(
        sentences("Dr. Who met J. Smith at St. Paul"),
        ["Dr Who met J Smith at St Paul"]
    );
    assert_eq!(
        sentences("one line\nwrapped\n\nnext paragraph"),
        ["one line wrapped", "next paragraph"]
    );
    assert_eq!(sentences("buy:\n- milk\n- bread"), ["buy", "milk", "bread"]);
    assert_eq!(
        sentences("> so it goes\n>\n> and on"),
        ["so it goes", "and on"]
    );
    assert_eq!(
        sentences("会议结束。大家回家！"),
        sentences("会议结束。\n大家回家！")
    );
    assert_eq!(sentences("会议结束。大家回家！").len(), 2);
}

#[test]
fn a_question_is_marked() {
    let asked = |text: &str| {
        document(text)
            .words
            .last()
            .is_some_and(|w| w.flags.has(WordFlags::ASKED))
    };
    assert!(asked("Is it ready?") && asked("\"Is it ready?\"") && asked("准备好了吗？"));
    assert!(!asked("It is ready.") && !asked("It is ready ? "));
}

#[test]
fn hashes_do_not_depend_on_case_or_form() {
    let first = |text: &str| document(text).words[0].hash;
    assert_eq!(first("REPORT"), first("report"));
    assert_eq!(first("ﬁle"), first("file"));
    assert_eq!(first("Ｒｅｐｏｒｔ"), hash_of("report"));
}

#[test]
fn words_stand_in_order_whatever_lines_they_run_over() {
    for text in [
        "\u{3042}\n\u{4e3a}",
        "为\n为\n\n为\n",
        "> 为\n> 为\n> a为\n",
        "ก\nข\nค ง\n",
    ] {
        let document = document(text);
        assert!(
            document.words.windows(2).all(|w| w[0].end <= w[1].start),
            "{text:?}: {:?}",
            document.words
        );
    }
}
