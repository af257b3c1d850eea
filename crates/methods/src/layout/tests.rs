use proptest::prelude::*;
use twicetold_model::{Layout, Tag, TagName};

use super::*;

/// The layout of a page.
fn page(html: &str) -> Layout {
    twicetold_mail::html::tags::read(html.as_bytes())
}

fn abstraction(html: &str) -> Abstraction {
    Abstraction::of(&page(html))
}

fn document(layout: Layout) -> Document {
    Document {
        layout: Some(Box::new(layout)),
        ..Document::default()
    }
}

/// A newsletter of `rows` rows with its own mix of elements.
fn letter(rows: usize) -> String {
    let mut html = String::from(
        "<html><body><center><h1>News</h1><a href='http://www.shop.example.com/'>Home</a>",
    );
    for row in 0..rows {
        html.push_str("<table><tr><td><img src=a.gif>");
        html.push_str(
            [
                "<b>Now</b>",
                "<p>Now</p><br>",
                "<i>Now</i><ul><li>a<li>b</ul>",
            ][row % 3],
        );
        html.push_str("</td><td><font color=red>cheap</font><br>today</td></tr></table><hr>");
    }
    html + "<p>Bye</p></center></body></html>"
}

#[test]
fn noise_leaves_the_abstraction_alone() {
    let html = letter(6);
    let plain = abstraction(&html);
    let noisy = [
        html.replace("<td>", "<td class=xa81 id=q7>"),
        html.replace("<td>", "<!-- x81 --><td>"),
        html.replace(
            "today",
            "today<div style='display:none'>a poem <b>of</b> hidden words</div>",
        ),
        html.replace("today", "to<b></b>day<i> </i>"),
        html.replace("cheap", "<span>expensive</span> and much longer"),
        html.replace("http://www.shop", "https://img7.shop"),
        html.to_uppercase()
            .replace("SHOP.EXAMPLE.COM", "shop.example.com"),
    ];
    for noisy in noisy {
        assert_ne!(noisy, html);
        assert_eq!(abstraction(&noisy), plain, "{noisy}");
    }
    assert_ne!(
        abstraction(&html.replace("example.com", "example.net")),
        plain
    );
}

#[test]
fn one_tag_more_is_another_abstraction_but_a_near_one() {
    let cosdes = Cosdes::default();
    let html = letter(12);
    let plain = abstraction(&html);
    let other = abstraction(&html.replacen("today", "to<br>day", 1));
    assert_ne!(plain.checksum(), other.checksum());
    assert!(apart(cosdes.hash(&plain), cosdes.hash(&other)) <= 6);
    let stranger = abstraction(&format!(
        "<a href='http://a.example.org'>x</a>{}",
        "<p>x<b>y</b></p>".repeat(40)
    ));
    assert!(apart(cosdes.hash(&plain), cosdes.hash(&stranger)) >= 15);
}

#[test]
fn a_message_without_html_has_no_layout() {
    let cosdes = Cosdes::default();
    assert_eq!(cosdes.sketch(&Document::default()), None);
    assert_eq!(cosdes.sketch(&document(Layout::default())), None);
    assert_eq!(cosdes.sketch(&document(page("<p>Hello</p>"))), None);
    assert!(cosdes.sketch(&document(page(&letter(3)))).is_some());
}

#[test]
fn equal_layouts_score_one_and_others_less() {
    let cosdes = Cosdes::default();
    let sketch = |html: &str| cosdes.sketch(&document(page(html))).unwrap();
    let known = sketch(&letter(9));
    assert_eq!(
        cosdes
            .compare(&known, &sketch(&letter(9).replace("cheap", "dear")))
            .resemblance,
        1.0
    );
    let near = cosdes
        .compare(
            &known,
            &sketch(&letter(9).replacen("today", "<u>today</u>", 1)),
        )
        .resemblance;
    assert!((0.8..1.0).contains(&near), "{near}");
    let broken = Sketch {
        keys: Vec::new(),
        body: vec![1, 2, 3],
    };
    assert_eq!(cosdes.compare(&known, &broken).resemblance, 0.0);
}

#[test]
fn the_order_visits_every_place_once_and_begins_in_the_middle() {
    for length in 0..300 {
        let mut places: Vec<usize> = order(length).collect();
        let first = places.first().copied();
        places.sort_unstable();
        assert_eq!(places, (0..length).collect::<Vec<_>>());
        if length > 1 {
            assert!(
                (length / 3..=length * 3 / 4).contains(&first.unwrap()),
                "{length} {first:?}"
            );
        }
    }
    assert_eq!(order(8).collect::<Vec<_>>(), [4, 2, 6, 1, 5, 3, 7, 0]);
}

#[test]
fn reordering_tells_pages_apart_earlier() {
    // Newsletters that begin alike; one of them has another row somewhere.
    let pages: Vec<Vec<Symbol>> = (0..12)
        .map(|row| {
            let rows: String = (0..12)
                .map(|at| {
                    if at >= row {
                        "<tr><td>a</td></tr>"
                    } else {
                        "<ol><li>a</li></ol>"
                    }
                })
                .collect();
            abstraction(&format!("<table>{rows}</table>")).tags
        })
        .collect();
    let until = |order: &[usize]| -> usize {
        let pairs = pages.iter().flat_map(|a| pages.iter().map(move |b| (a, b)));
        pairs
            .filter_map(|(a, b)| order.iter().position(|at| a.get(*at) != b.get(*at)))
            .sum()
    };
    let length = pages.iter().map(Vec::len).max().unwrap();
    let written: Vec<usize> = (0..length).collect();
    assert!(2 * until(&order(length).collect::<Vec<_>>()) < until(&written));
}

#[test]
fn ten_levels_hold_1023_tags() {
    let tags = |count: usize| Abstraction {
        tags: (0..count).map(|_| Symbol::tag(Tag::TEXT)).collect(),
        anchors: Vec::new(),
    };
    for (count, levels) in [
        (1, 1),
        (2, 2),
        (3, 2),
        (4, 3),
        (511, 9),
        (512, 10),
        (1023, 10),
        (1024, 10),
    ] {
        let mut table = SpTable::new(Node::Exact);
        table.add(1, &tags(count));
        assert_eq!(
            table.search(&tags(count)),
            Search {
                ids: vec![1],
                levels
            },
            "{count}"
        );
    }
}

#[test]
fn a_search_stops_where_the_tree_knows_no_more() {
    let mut table = SpTable::new(Node::Exact);
    table.add(1, &abstraction("<a href='http://a.example'>x</a><p>y</p>"));
    let other = abstraction("<a href='http://b.example'>x</a><p>y</p>");
    assert_eq!(
        table.search(&other),
        Search {
            ids: Vec::new(),
            levels: 1
        }
    );
}

#[test]
fn hosts_become_registrable_domains_once_each() {
    let two =
        abstraction("<a href=http://a.example.co.uk>x</a><a href=http://b.example.co.uk>y</a>");
    assert_eq!(two.anchors.len(), 1);
    for (host, expected) in [
        ("example.com", "example.com"),
        ("a.b.example.com", "example.com"),
        ("user.github.io", "user.github.io"),
        ("com", "com"),
        ("localhost", "localhost"),
        ("10.0.0.1", "10.0.0.1"),
        ("", ""),
    ] {
        assert_eq!(registrable(host), expected);
    }
}

#[test]
fn node_simhash_forgives_what_keeps_length_and_place() {
    let mut exact = SpTable::new(Node::Exact);
    let mut near = SpTable::new(Node::SimHash { bits: 12 });
    let html = letter(12);
    for table in [&mut exact, &mut near] {
        table.add(5, &abstraction(&html));
    }
    // One tag of the last and longest subsequence is another one; the length is the same.
    let mut changed = abstraction(&html);
    let places: Vec<usize> = order(changed.tags.len()).collect();
    let place = places[places.len() - 5];
    changed.tags[place] = Symbol::tag(Tag {
        name: TagName::of(b"h6").unwrap(),
        end: changed.tags[place].is_end(),
    });
    assert_eq!(exact.search(&changed).ids, [] as [u64; 0]);
    assert_eq!(near.search(&changed).ids, [5]);
    // A tag more is beyond both.
    let longer = abstraction(&html.replacen("Now", "N<br>ow", 1));
    assert_eq!(near.search(&longer).ids, [] as [u64; 0]);
}

#[test]
fn huge_pages_are_safe() {
    let cosdes = Cosdes::default();
    let huge = document(page(&"<p>x<br>y</p>".repeat(100_000)));
    let sketch = cosdes.sketch(&huge).unwrap();
    assert_eq!(cosdes.compare(&sketch, &sketch).resemblance, 1.0);
    let mut table = SpTable::new(Node::Exact);
    let abstraction = Abstraction::of(huge.layout.as_ref().unwrap());
    table.add(1, &abstraction);
    assert_eq!(table.search(&abstraction).ids, [1]);
}

fn some_abstraction() -> impl Strategy<Value = Abstraction> {
    let tag = (0..6_usize, any::<bool>()).prop_map(|(name, end)| {
        let name = ["p", "b", "td", "tr", "br", "div"][name];
        Symbol::tag(Tag {
            name: TagName::of(name.as_bytes()).unwrap(),
            end,
        })
    });
    let anchor = prop::collection::btree_set("[a-c]", 0..2).prop_map(|hosts| {
        hosts
            .iter()
            .map(|host| Symbol::anchor(host))
            .collect::<Vec<_>>()
    });
    (anchor, prop::collection::vec(tag, 1..9)).prop_map(|(mut anchors, tags)| {
        anchors.sort_unstable();
        Abstraction { anchors, tags }
    })
}

proptest! {
    #[test]
    fn the_exact_table_agrees_with_comparing_everything(
        stored in prop::collection::vec(some_abstraction(), 0..30),
        removed in prop::collection::vec(any::<bool>(), 30),
        query in some_abstraction(),
    ) {
        let mut table = SpTable::new(Node::Exact);
        for (id, one) in stored.iter().enumerate() {
            table.add(id as u64, one);
            table.add(id as u64, one);
        }
        for (id, one) in stored.iter().enumerate().filter(|(id, _)| removed[*id]) {
            prop_assert!(table.remove(id as u64, one));
            prop_assert!(!table.remove(id as u64, one));
        }
        for wanted in stored.iter().chain([&query]) {
            let expected: Vec<u64> = (0..stored.len())
                .filter(|id| !removed[*id] && stored[*id].reordered() == wanted.reordered())
                .map(|id| id as u64)
                .collect();
            prop_assert_eq!(table.search(wanted).ids, expected);
        }
        for (id, one) in stored.iter().enumerate() {
            table.remove(id as u64, one);
        }
        prop_assert!(table.is_empty());
    }

    #[test]
    fn simhash_nodes_find_at_least_what_is_equal(
        stored in prop::collection::vec(some_abstraction(), 1..30),
        bits in 0..20_u32,
    ) {
        let mut table = SpTable::new(Node::SimHash { bits });
        for (id, one) in stored.iter().enumerate() {
            table.add(id as u64, one);
        }
        for (id, one) in stored.iter().enumerate() {
            prop_assert!(table.search(one).ids.contains(&(id as u64)));
            prop_assert!(table.remove(id as u64, one));
        }
        prop_assert!(table.is_empty());
    }

    #[test]
    fn hashes_up_to_six_bits_apart_share_a_key(hash in any::<u64>(), flips in prop::collection::vec(0..64_u32, 0..=6)) {
        let other = flips.iter().fold(hash, |hash, bit| hash ^ 1 << bit);
        let known: Vec<u64> = keys(hash).collect();
        prop_assert!(keys(other).any(|key| known.contains(&key)));
    }
}
