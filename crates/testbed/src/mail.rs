//! Mail that has what small samples do not have.

/// Mail with what many messages have: footers, a template, a deep thread, sentences that go round, misspelt copies, an attachment.
pub fn busy_mailbox() -> Vec<String> {
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut sentence = |words: u64, out_of: u64| {
        let word = |n: u64| {
            let syllables = ["ba", "ke", "lo", "mi", "nu", "ra", "so", "ti", "ve", "du"];
            let syllable = |place: u32| syllables[(n / 10_u64.pow(place) % 10) as usize];
            format!("{}{}{}", syllable(0), syllable(1), syllable(2))
        };
        let words: Vec<String> = (0..words).map(|_| word(random(out_of))).collect();
        format!("{}.", words.join(" "))
    };
    let footer = sentence(14, 900);
    let notice = sentence(12, 900);
    let template: Vec<String> = (0..5).map(|_| sentence(9, 900)).collect();
    let round: Vec<String> = (0..60).map(|_| sentence(10, 900)).collect();
    // Six offices that have nothing to do with each other, but for the footers.
    let in_round = |n: usize, nth: usize| round[n % 6 * 10 + nth % 10].as_str();
    let mut thread = String::new();
    let mut mails: Vec<(String, String)> = Vec::new();
    for n in 0..2_200_usize {
        let (subject, body) = match n % 11 {
            // Everything of it goes round.
            0..4 => {
                let some = (0..n % 5 + 1).map(|k| in_round(n, n / 6 + k * k));
                (
                    format!("Round {}", n % 3),
                    some.collect::<Vec<_>>().join("\n"),
                )
            }
            4 => {
                let mut filled = template.clone();
                filled[n % 4] += &format!(" The sum is {} today.", n / 11 % 40);
                ("Account".to_owned(), filled.join("\n"))
            }
            5 => {
                let said = sentence(8, 900);
                let quoted = thread.lines().map(|line| format!("> {line}\n"));
                thread = format!("{said}\n\n{}", quoted.collect::<String>());
                ("Re: Plans".to_owned(), thread.clone())
            }
            // A copy of one before, with a word misspelt.
            6 => {
                let (subject, body) = mails[n * 5 / 7 % mails.len()].clone();
                (subject, body.replacen("lo", "lu", 1))
            }
            7 => (
                "Yes".to_owned(),
                in_round(n, n / 6)
                    .split(' ')
                    .take(4)
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
            _ => {
                let news = (0..3)
                    .map(|_| sentence(9, 900))
                    .collect::<Vec<_>>()
                    .join("\n");
                (
                    format!("News {n}"),
                    format!("{news}\n{}", in_round(n, n / 6)),
                )
            }
        };
        mails.push((subject, body));
    }
    let messages = mails.iter().enumerate().map(|(n, (subject, body))| {
        let parting = [&footer, &notice][usize::from(n % 3 == 0)];
        let answers = match n % 11 == 5 && n > 11 {
            true => format!("In-Reply-To: <{}@example.org>\n", n - 11),
            false => String::new(),
        };
        let head = format!(
            "From: p{}@example.org\nSubject: {subject}\nMessage-ID: <{n}@example.org>\n{answers}",
            n % 5
        );
        let text = format!("{body}\n\n{footer}\n{parting}\n");
        match n % 13 {
            0 => format!(
                "{head}MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n{text}\n--b\nContent-Type: application/pdf\n\n%PDF {}\n--b--\n",
                n % 2
            ),
            _ => format!("{head}\n{text}"),
        }
    });
    messages.collect()
}
