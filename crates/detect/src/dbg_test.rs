use super::*;
#[test]
fn dbg_combined() {
    let get = |f: &str| std::sync::Arc::new(comparable::Comparable::new(twicetold_mail::read(twicetold_model::Form::Mail, &std::fs::read(f).unwrap())));
    let dir = std::env::var("CASE").unwrap();
    let a = get(&format!("{dir}/a.eml"));
    for w in ["b", "c"] {
        let f = format!("{dir}/{w}.eml");
        if !std::path::Path::new(&f).exists() { continue; }
        let b = get(&f);
        let h = cover::hold(&a, 0, b);
        for (u, p) in a.units.iter().zip(&h.places) {
            let t = &a.document.text[a.document.words[u.words.start as usize].start as usize..a.document.words[u.words.end as usize - 1].end as usize];
            println!("{w} {:?} content {} answers {} -> {:?} | {}", u.kind, u.content, u.answers, p, t);
        }
    }
    println!("{:?} says {} telling {:?}", a.document.language, a.says(), a.telling());
}
