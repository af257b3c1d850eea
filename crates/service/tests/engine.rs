//! Campaigns, reporters and classes, on mails written for the tests.

#![allow(clippy::unwrap_used)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use support::{DAY, HAM, NOW, SPAM, changed, engine, html, invented, mail, with_headers};
use twicetold_service::{Class, Engine, Outcome, Sketches, Standing};

fn trusting(names: &[&str]) -> Engine {
    let engine = engine();
    for name in names {
        engine.set_standing(name, Standing::Trusted).unwrap();
    }
    engine
}

#[test]
fn variants_are_recognised_and_honest_mail_is_not() {
    let engine = trusting(&["anna"]);
    let mut ids = Vec::new();
    for spam in SPAM {
        let receipt = engine.report(&mail(spam), "anna", NOW).unwrap();
        assert_eq!(receipt.outcome, Outcome::New);
        ids.push(receipt.campaign.unwrap().id);
    }
    let padding = HAM.join(" ");
    let leet = |text: &str| text.replace('a', "@").replace('e', "3").replace('o', "0");
    for (spam, id) in SPAM.iter().zip(&ids) {
        let mut variants = vec![
            format!("{spam} {padding}"),
            format!("{padding}\n\n{spam}"),
            leet(spam),
            spam.to_uppercase(),
        ];
        for seed in 0..10 {
            variants.push(changed(spam, 10, seed));
            variants.push(changed(spam, 20, 50 + seed));
        }
        for variant in variants {
            let answer = engine.check(&mail(&variant), NOW).unwrap();
            let named = answer.campaign.as_ref().map(|campaign| campaign.id);
            assert_eq!(named, Some(*id), "{variant}\n{answer:?}");
        }
        let answer = engine.check(&mail(spam), NOW).unwrap();
        assert_eq!(answer.class, Class::Spam);
        assert!((0.8..=1.0).contains(&answer.score));
        let page = html(&format!("<html><body><p>{spam}</p></body></html>"));
        assert_eq!(engine.check(&page, NOW).unwrap().class, Class::Spam);
    }
    for ham in HAM {
        let answer = engine.check(&mail(ham), NOW).unwrap();
        assert_eq!(
            (answer.class, answer.score),
            (Class::Unknown, 0.0),
            "{answer:?}"
        );
    }
}

#[test]
fn whoever_quotes_spam_to_talk_about_it_is_not_a_spammer() {
    let engine = trusting(&["anna"]);
    engine.report(&mail(SPAM[2]), "anna", NOW).unwrap();
    let quoted: String = SPAM[2]
        .split(". ")
        .map(|line| format!("> {line}.\n"))
        .collect();
    let reply = format!(
        "Has anybody else received this letter? It came to my work address twice this week, and my \
         grandmother nearly answered it. Where can it be reported?\n\n{quoted}"
    );
    let answer = engine.check(&mail(&reply), NOW).unwrap();
    assert_ne!(answer.class, Class::Spam, "{answer:?}");
}

#[test]
fn two_answers_to_one_letter_are_no_campaign() {
    let quoted = |text: &str| {
        let lines: Vec<String> = text.split(". ").map(|line| format!("> {line}.")).collect();
        format!("Jonas wrote:\n{}", lines.join("\n"))
    };
    let letter = &format!("{} {}", HAM[3], HAM[0]);
    let engine = trusting(&["anna"]);
    let first = mail(&format!("{}\n\n{}", HAM[1], quoted(letter)));
    engine.report(&first, "anna", NOW).unwrap();
    assert_eq!(engine.check(&first, NOW).unwrap().class, Class::Spam);
    let second = mail(&format!("{}\n\n{}", HAM[2], quoted(letter)));
    assert!(second.pairs.iter().any(|pair| pair.is_quoted()));
    assert_eq!(engine.check(&second, NOW).unwrap().campaign, None);
}

#[test]
fn a_shared_footer_is_no_campaign() {
    let footer = "You receive this message because you subscribed to the gardeners' circle of Uppsala. The \
        moderators are Birgitta and Lennart; complaints, corrections and seed exchanges go to the greenhouse \
        office. Archives of every month since nineteen ninety-seven lie on the server of the botanical society.";
    let engine = trusting(&["anna"]);
    engine
        .report(&mail(&format!("{}\n\n{footer}", SPAM[1])), "anna", NOW)
        .unwrap();
    for ham in HAM {
        let answer = engine
            .check(&mail(&format!("{ham}\n\n{footer}")), NOW)
            .unwrap();
        assert_eq!(answer.class, Class::Unknown, "{answer:?}");
    }
}

#[test]
fn a_report_of_nothing_but_a_footer_harms_no_list() {
    let footer = "-- \nTo unsubscribe from this group, send an email to:\nmarmalade-unsubscribe@lists.example.org\n\n\
        Your use of Lists is subject to the terms of service at http://lists.example.org/info/terms\n\
        _______________________________________________\nMarmalade mailing list\nMarmalade@lists.example.org\n\
        http://lists.example.org/mailman/listinfo/marmalade";
    let empty = mail(&format!("http://www.example.com/clown.html\n\n{footer}"));
    assert!(empty.pairs.iter().all(|pair| !pair.is_content()) && empty.pairs.len() > 10);
    let engine = trusting(&["anna"]);
    let receipt = engine.report(&empty, "anna", NOW).unwrap();
    assert_eq!(receipt.outcome, Outcome::New);
    assert_eq!(engine.check(&empty, NOW).unwrap().class, Class::Spam);
    for text in HAM {
        let post = mail(&format!("{text}\n\n{footer}"));
        assert_eq!(engine.check(&post, NOW).unwrap().campaign, None);
    }
}

#[test]
fn strangers_alone_never_block() {
    let engine = trusting(&["anna"]);
    for number in 0..50 {
        let variant = mail(&changed(SPAM[0], 5, number));
        engine
            .report(&variant, &format!("stranger {number}"), NOW)
            .unwrap();
    }
    let answer = engine.check(&mail(SPAM[0]), NOW).unwrap();
    assert_eq!(answer.class, Class::Unsure);
    assert_eq!(answer.campaign.unwrap().reporters, 50);
    engine.report(&mail(SPAM[0]), "anna", NOW).unwrap();
    assert_eq!(
        engine.check(&mail(SPAM[0]), NOW).unwrap().class,
        Class::Spam
    );
    let reporter = engine.reporter("stranger 7").unwrap();
    assert_eq!((reporter.reports, reporter.confirmed), (1, 1));
}

#[test]
fn strangers_become_established_and_lose_it_again() {
    let engine = trusting(&["anna", "berta"]);
    for seed in 0..5 {
        let spam = mail(&invented(seed, 60));
        engine.report(&spam, "newcomer", NOW).unwrap();
        engine.report(&spam, "anna", NOW).unwrap();
    }
    let next = mail(&invented(9, 60));
    engine.report(&next, "newcomer", NOW).unwrap();
    let before = engine.check(&next, NOW).unwrap();
    assert!(engine.reporter("newcomer").unwrap().counts_alone());
    // What the newcomer said before weighs less once others disagree.
    for seed in 20..23 {
        let wanted = mail(&invented(seed, 60));
        engine.report(&wanted, "newcomer", NOW).unwrap();
        let receipt = engine.revoke(&wanted, "berta", NOW).unwrap();
        assert_eq!(receipt.outcome, Outcome::Disputed);
        // Saying it twice does not count twice.
        engine.revoke(&wanted, "berta", NOW).unwrap();
    }
    let reporter = engine.reporter("newcomer").unwrap();
    assert_eq!((reporter.confirmed, reporter.disputed), (5, 3));
    assert!(!reporter.counts_alone());
    let after = engine.check(&next, NOW).unwrap();
    assert!(
        after.score < before.score,
        "{} {}",
        before.score,
        after.score
    );
}

#[test]
fn reporting_twice_counts_once_and_can_be_taken_back() {
    let engine = trusting(&["anna"]);
    let spam = mail(SPAM[3]);
    assert_eq!(
        engine.report(&spam, "anna", NOW).unwrap().outcome,
        Outcome::New
    );
    let again = engine.report(&spam, "anna", NOW + 5).unwrap();
    assert_eq!(again.outcome, Outcome::Again);
    let campaign = again.campaign.unwrap();
    assert_eq!((campaign.reporters, campaign.messages), (1, 1));
    let variant = engine
        .report(&mail(&changed(SPAM[3], 8, 1)), "anna", NOW + 9)
        .unwrap();
    let campaign = variant.campaign.unwrap();
    assert_eq!((campaign.reporters, campaign.messages), (1, 2));
    assert_eq!(engine.reporter("anna").unwrap().reports, 1);
    assert_eq!(
        engine.revoke(&spam, "anna", NOW).unwrap().outcome,
        Outcome::Withdrawn
    );
    assert_eq!(
        engine.revoke(&spam, "anna", NOW).unwrap().outcome,
        Outcome::Nothing
    );
    assert_eq!(engine.check(&spam, NOW).unwrap().class, Class::Unknown);
    assert_eq!(engine.campaign(campaign.id).unwrap(), None);
    assert!(engine.state().names(None, 5).unwrap().is_empty());
}

#[test]
fn layout_alone_never_blocks() {
    let page = |cells: &[&str]| {
        let rows: String = cells
            .iter()
            .map(|cell| format!("<tr><td><b>{cell}</b></td><td><a href='http://pills.example/buy?{}'>x</a></td></tr>", cell.len()))
            .collect();
        html(&format!(
            "<html><body><h1>{}</h1><table>{rows}</table><p>{}</p><img src='http://pills.example/a.png'></body></html>",
            cells[0], cells[1]
        ))
    };
    let first: Vec<&str> = SPAM[1].split(". ").collect();
    let engine = trusting(&["anna"]);
    let id = engine
        .report(&page(&first), "anna", NOW)
        .unwrap()
        .campaign
        .unwrap()
        .id;
    assert_eq!(engine.check(&page(&first), NOW).unwrap().class, Class::Spam);
    let cells: Vec<String> = first
        .iter()
        .map(|cell| "x".repeat(cell.len().max(1)))
        .collect();
    let other: Vec<&str> = cells.iter().map(String::as_str).collect();
    let answer = engine.check(&page(&other), NOW).unwrap();
    assert_eq!(answer.class, Class::Unsure, "{answer:?}");
    assert_eq!(answer.campaign.unwrap().id, id);
    assert!(answer.score <= 0.5);
    // Nor does it put another text under the same campaign.
    let other = engine.report(&page(&other), "anna", NOW).unwrap();
    assert_eq!(other.outcome, Outcome::New);
}

#[test]
fn authentic_bulk_mail_that_people_keep_is_disputed() {
    let headers =
        "List-Id: <news.example.net>\nAuthentication-Results: mx.example.org; dkim=pass\n";
    let letter = with_headers(headers, SPAM[3]);
    assert!(letter.authenticated_bulk);
    let engine = trusting(&["anna", "berta", "carla", "dora"]);
    for name in ["anna", "berta", "carla", "dora"] {
        engine.report(&letter, name, NOW).unwrap();
    }
    assert_eq!(engine.check(&letter, NOW).unwrap().class, Class::Spam);
    for number in 0..3 {
        engine
            .revoke(&letter, &format!("reader {number}"), NOW)
            .unwrap();
    }
    let answer = engine.check(&letter, NOW).unwrap();
    assert_eq!(answer.class, Class::Unsure);
    assert!(answer.campaign.unwrap().disputed);
    // A fraud that copies an honest letter does not get the letter blocked.
    engine.report(&mail(SPAM[0]), "anna", NOW).unwrap();
    assert_eq!(
        engine.check(&mail(SPAM[0]), NOW).unwrap().class,
        Class::Spam
    );
    let copied = with_headers(headers, SPAM[0]);
    assert_eq!(engine.check(&copied, NOW).unwrap().class, Class::Unsure);
}

/// A post of a list: a frame that all have, round about what it says.
fn post(seed: u64) -> Sketches {
    let text = format!(
        "The Wednesday letter of the canal society, sent to all who keep a narrow boat between Braunston and \
         Gloucester. Contributions reach the editors Harriet and Osbert until Sunday evening.\n\n{}\n\nMoorings, \
         lock closures and water levels are listed on the society's noticeboard at Hawkesbury junction. Members \
         who want to leave the circle tell the treasurer Philippa; back numbers can be borrowed from the library \
         in Stoke Bruerne, where the founders' logbooks are kept as well.",
        invented(seed, 45)
    );
    let headers =
        "List-Id: <canal.example.net>\nAuthentication-Results: mx.example.org; dkim=pass\n";
    with_headers(headers, &text)
}

#[test]
fn a_false_report_of_one_post_harms_no_other_for_long() {
    let engine = trusting(&["anna", "berta"]);
    // A stranger's report blocks nothing, not even the very post.
    engine.report(&post(100), "stranger", NOW).unwrap();
    for seed in 100..110 {
        assert_ne!(engine.check(&post(seed), NOW).unwrap().class, Class::Spam);
    }
    // One who is trusted makes others look alike, as far as the frame goes.
    let receipt = engine.report(&post(100), "anna", NOW).unwrap();
    let id = receipt.campaign.unwrap().id;
    let named = |seed: u64| {
        let answer = engine.check(&post(seed), NOW).unwrap();
        answer.campaign.map(|campaign| campaign.id)
    };
    assert!((101..110).any(|seed| named(seed) == Some(id)));
    let taken = (101..110).find(|&seed| named(seed) == Some(id)).unwrap();
    // Another who is trusted takes one of them out of the junk: it was the frame.
    let receipt = engine.revoke(&post(taken), "berta", NOW).unwrap();
    assert_eq!(receipt.outcome, Outcome::Disputed);
    for seed in 101..140 {
        assert_eq!(named(seed), None, "{seed}");
    }
    // What was reported is still known.
    assert_eq!(named(100), Some(id));
    let again = with_headers("", &format!("{} at noon", invented(100, 45)));
    let answer = engine.check(&again, NOW).unwrap();
    assert_eq!(answer.campaign.map(|campaign| campaign.id), Some(id));
}

#[test]
fn who_keeps_the_very_text_disputes_it_and_it_stays_known() {
    let engine = trusting(&["anna", "berta"]);
    engine.report(&mail(SPAM[2]), "anna", NOW).unwrap();
    for (reporter, text) in [
        ("berta", SPAM[2].to_owned()),
        ("stranger", changed(SPAM[2], 50, 3)),
    ] {
        engine.revoke(&mail(&text), reporter, NOW).unwrap();
        let answer = engine.check(&mail(&changed(SPAM[2], 10, 7)), NOW).unwrap();
        assert_eq!(answer.class, Class::Unsure, "{answer:?}");
    }
}

#[test]
fn campaigns_merge_when_a_message_shows_that_they_are_one() {
    let engine = trusting(&["anna"]);
    let one = format!("{} {}", invented(1, 20), invented(2, 60));
    let two = format!("{} {}", invented(2, 60), invented(3, 90));
    let first = engine
        .report(&mail(&one), "anna", NOW)
        .unwrap()
        .campaign
        .unwrap();
    // Less than half of it is in the second one, all of it in one place.
    let far = format!("{} {}", invented(4, 100), invented(3, 90));
    let second = engine
        .report(&mail(&far), "berta", NOW + 1)
        .unwrap()
        .campaign
        .unwrap();
    assert_ne!(first.id, second.id);
    engine.report(&mail(&two), "carla", NOW + 2).unwrap();
    for id in [first.id, second.id] {
        assert!(
            engine.campaign(id).unwrap().is_some(),
            "every name leads somewhere"
        );
    }
}

#[test]
fn unrelated_spam_does_not_crowd_out_what_is_known() {
    let engine = trusting(&["anna"]);
    let ids: Vec<_> = SPAM
        .iter()
        .map(|spam| {
            engine
                .report(&mail(spam), "anna", NOW)
                .unwrap()
                .campaign
                .unwrap()
                .id
        })
        .collect();
    // A thousand campaigns that all end with the same boilerplate as the known ones.
    let unrelated: Vec<Sketches> = (0..1000)
        .map(|seed| mail(&format!("{} {}", invented(seed, 40), &SPAM[0][..60])))
        .collect();
    for some in unrelated.chunks(250) {
        engine.report_all(some, "berta", NOW).unwrap();
    }
    for (spam, id) in SPAM.iter().zip(ids) {
        for seed in 0..10 {
            let answer = engine.check(&mail(&changed(spam, 15, seed)), NOW).unwrap();
            assert_eq!(answer.campaign.unwrap().id, id);
        }
    }
}

#[test]
fn the_same_history_leads_to_the_same_state() {
    let play = || {
        let engine = trusting(&["anna"]);
        let messages: Vec<Sketches> = (0..40)
            .map(|n| mail(&changed(SPAM[n % 4], 12, n as u64)))
            .collect();
        engine.report_all(&messages[..20], "anna", NOW).unwrap();
        for (n, message) in messages[20..].iter().enumerate() {
            engine
                .report(message, &format!("reporter {}", n % 5), NOW + n as i64)
                .unwrap();
        }
        engine.revoke(&messages[3], "reporter 1", NOW + 99).unwrap();
        let mut lines = Vec::new();
        engine.export(&mut lines).unwrap();
        (lines, engine.check(&messages[7], NOW).unwrap())
    };
    assert_eq!(play(), play());
}

#[test]
fn what_is_seen_does_not_age() {
    let engine = trusting(&["anna"]);
    for spam in &SPAM[..2] {
        engine.report(&mail(spam), "anna", NOW).unwrap();
    }
    let later = NOW + 100 * DAY;
    assert_eq!(
        engine.check(&mail(SPAM[0]), later).unwrap().class,
        Class::Spam
    );
    let tidied = engine.tidy(later + DAY, 30, None).unwrap();
    assert_eq!((tidied.looked_at, tidied.forgotten), (2, 1));
    assert_eq!(
        engine.check(&mail(SPAM[0]), later).unwrap().class,
        Class::Spam
    );
    assert_eq!(
        engine.check(&mail(SPAM[1]), later).unwrap().class,
        Class::Unknown
    );
}

#[test]
fn forgetting_goes_in_small_steps_while_checks_go_on() {
    let engine = trusting(&["anna"]);
    let old: Vec<Sketches> = (0..1_200).map(|seed| mail(&invented(seed, 30))).collect();
    engine.report_all(&old, "anna", NOW).unwrap();
    let later = NOW + 100 * DAY;
    for spam in SPAM {
        engine.report(&mail(spam), "anna", later).unwrap();
    }
    let done = AtomicBool::new(false);
    let checked = thread::scope(|scope| {
        let checking = scope.spawn(|| {
            let mut checked = 0;
            while !done.load(Ordering::Acquire) || checked == 0 {
                for spam in SPAM {
                    let answer = engine.check(&mail(spam), later).unwrap();
                    assert_eq!(answer.class, Class::Spam);
                    checked += 1;
                }
            }
            checked
        });
        let (mut after, mut forgotten) = (None, Vec::new());
        loop {
            let tidied = engine.tidy(later, 30, after).unwrap();
            forgotten.push(tidied.forgotten);
            after = tidied.next;
            if after.is_none() {
                break;
            }
        }
        done.store(true, Ordering::Release);
        assert_eq!(forgotten.iter().sum::<usize>(), 1_200);
        assert!(forgotten.iter().all(|&some| some <= 500), "{forgotten:?}");
        checking.join().unwrap()
    });
    assert!(checked > 0);
    assert_eq!(engine.check(&old[7], later).unwrap().class, Class::Unknown);
}

#[test]
fn messages_with_nothing_to_go_by_are_not_filed() {
    let engine = trusting(&["anna"]);
    for text in ["", "\n\n", "Hello"] {
        let receipt = engine.report(&mail(text), "anna", NOW).unwrap();
        assert_eq!(receipt.outcome, Outcome::Blank, "{text:?}");
        assert_eq!(
            engine.check(&mail(text), NOW).unwrap().class,
            Class::Unknown
        );
    }
    // A courtesy reported by mistake does not make every courtesy spam.
    engine
        .report(&mail("Thank you very much, see you tomorrow!"), "anna", NOW)
        .unwrap();
    let answer = engine
        .check(&mail("Thanks for the file. See you tomorrow!"), NOW)
        .unwrap();
    assert_eq!(answer.class, Class::Unknown);
}
