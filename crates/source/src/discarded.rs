//! Mail that its owner has thrown away, or never wanted: trash and junk.
//!
//! What lies there may be gone tomorrow. So it is no reason to let another message go, and
//! collections that are scanned for removal leave it out, unless it is named itself. Drafts are
//! read, but are no reason either.

use std::path::PathBuf;

use crate::folder_name::{TOP_FOLDERS, names_in};

/// Which mailboxes below the paths given are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Folders of a Maildir, and mbox files, whose names say that they are trash or junk.
    pub discarded: bool,
    /// These folders.
    pub folders: Vec<PathBuf>,
    /// Mailboxes that are not here at all, for the same reason: they are told with the others.
    pub elsewhere: Vec<String>,
}

/// What mail programs call trash and junk, in lower case.
const DISCARDED: &[&str] = &[
    // English, and names that programs have of their own
    "trash",
    "bin",
    "deleted",
    "deleted items",
    "deleted messages",
    "deleted-items",
    "deleted_items",
    "trash bin",
    "rubbish",
    "wastebasket",
    "junk",
    "junk mail",
    "junk email",
    "junk e-mail",
    "junk_mail",
    "spam",
    "bulk mail",
    "bulk",
    // German
    "papierkorb",
    "gelöschte elemente",
    "gelöschte objekte",
    "gelöschte nachrichten",
    "gelöscht",
    "junk-e-mail",
    "junk-mail",
    "spamverdacht",
    "unerwünscht",
    "unerwünschte werbung",
    // French
    "corbeille",
    "éléments supprimés",
    "messages supprimés",
    "courrier indésirable",
    "indésirables",
    "pourriel",
    // Spanish, Catalan
    "papelera",
    "elementos eliminados",
    "mensajes eliminados",
    "correo no deseado",
    "correo basura",
    "paperera",
    "elements suprimits",
    // Italian
    "cestino",
    "posta eliminata",
    "messaggi eliminati",
    "posta indesiderata",
    // Portuguese
    "lixeira",
    "lixo",
    "itens excluídos",
    "itens eliminados",
    "mensagens apagadas",
    "lixo eletrônico",
    "correio eletrónico não solicitado",
    // Dutch
    "prullenbak",
    "prullenmand",
    "verwijderde items",
    "verwijderde berichten",
    "ongewenste e-mail",
    "ongewenste reclame",
    // Danish, Norwegian, Swedish, Finnish
    "papirkurv",
    "slettet post",
    "slettede elementer",
    "slettede meldinger",
    "uønsket mail",
    "uønsket e-post",
    "søppelpost",
    "søppel-e-post",
    "papperskorg",
    "papperskorgen",
    "borttaget",
    "borttagna objekt",
    "skräppost",
    "roskakori",
    "poistetut",
    "roskaposti",
    // Polish, Czech, Slovak, Hungarian, Romanian
    "kosz",
    "elementy usunięte",
    "usunięte",
    "wiadomości-śmieci",
    "niechciane",
    "koš",
    "odstraněná pošta",
    "odstraněné položky",
    "nevyžádaná pošta",
    "kôš",
    "odstránená pošta",
    "nevyžiadaná pošta",
    "kuka",
    "lomtár",
    "törölt elemek",
    "levélszemét",
    "coș de gunoi",
    "elemente șterse",
    // Russian, Ukrainian, Bulgarian
    "корзина",
    "удаленные",
    "удалённые",
    "спам",
    "нежелательная почта",
    "кошик",
    "видалені",
    "небажана пошта",
    "кошче",
    // Greek, Turkish, Hebrew, Arabic
    "κάδος απορριμμάτων",
    "διαγραμμένα",
    "ανεπιθύμητα",
    "çöp kutusu",
    "çöp",
    "silinmiş öğeler",
    "istenmeyen",
    "gereksiz e-posta",
    "אשפה",
    "פריטים שנמחקו",
    "דואר זבל",
    "سلة المهملات",
    "المهملات",
    "العناصر المحذوفة",
    "البريد غير الهام",
    // Chinese, Japanese, Korean, Thai, Vietnamese
    "已删除",
    "已删除邮件",
    "已删除的邮件",
    "已刪除的郵件",
    "垃圾箱",
    "垃圾桶",
    "垃圾邮件",
    "垃圾郵件",
    "刪除的郵件",
    "ごみ箱",
    "ゴミ箱",
    "削除済みアイテム",
    "迷惑メール",
    "휴지통",
    "지운 편지함",
    "지운 편지",
    "스팸",
    "스팸메일함",
    "정크 메일",
    "ถังขยะ",
    "รายการที่ถูกลบ",
    "thùng rác",
    "thư rác",
];

/// What mail programs call the folder of drafts, in lower case.
const DRAFTS: &[&str] = &[
    "drafts",
    "draft",
    "draft messages",
    "entwürfe",
    "entwurf",
    "brouillons",
    "brouillon",
    "borradores",
    "borrador",
    "esborranys",
    "bozze",
    "bozza",
    "rascunhos",
    "rascunho",
    "concepten",
    "concept",
    "kladder",
    "kladde",
    "utkast",
    "luonnokset",
    "wersje robocze",
    "szkice",
    "robocze",
    "koncepty",
    "rozepsané",
    "rozpísané",
    "piszkozatok",
    "schițe",
    "ciorne",
    "черновики",
    "чернетки",
    "чернови",
    "πρόχειρα",
    "taslaklar",
    "טיוטות",
    "مسودات",
    "المسودات",
    "草稿",
    "草稿箱",
    "草稿夹",
    "下書き",
    "임시보관함",
    "임시 보관함",
    "ร่างจดหมาย",
    "ฉบับร่าง",
    "thư nháp",
    "bản nháp",
];

/// Names that mean something else as often: they count where the messages themselves stand, or
/// right below a folder that only servers have.
const AMBIGUOUS: [&str; 5] = ["bin", "bulk", "concept", "deleted", "kuka"];

fn is_discarded_name(name: &str) -> bool {
    DISCARDED.contains(&name)
}

/// Whether a folder of this name holds what was thrown away; `.A.B` is the folder B in A.
pub(crate) fn is_discarded(name: &str) -> bool {
    let names = names_in(name);
    names.iter().any(|name| is_discarded_name(name))
}

/// Whether messages in the folders with these names, the outermost first, are trash, junk or drafts.
pub(crate) fn is_transient_folder(names: &[String]) -> bool {
    let count = names.len();
    let below_top = |n: usize| n > 0 && TOP_FOLDERS.contains(&names[n - 1].as_str());
    names.iter().enumerate().any(|(n, name)| {
        let known = is_discarded_name(name)
            || DRAFTS.contains(&name.as_str())
            || crate::TRASH[1..].eq_ignore_ascii_case(name);
        let is_sure = !AMBIGUOUS.contains(&name.as_str()) || n + 1 == count || below_top(n);
        known && is_sure
    })
}

/// Whether messages with this label are trash, junk or drafts.
pub(crate) fn is_transient_label(label: &str) -> bool {
    let label = label.trim().trim_matches('"').trim();
    is_transient_folder(&names_in(label))
}

/// Whether scans leave out a folder of this name that messages are moved to, whatever is in it: beside a Maildir as trash, in any other folder since
/// its name begins with a dot. In another one, what was let go would count as kept.
pub fn can_be_trash(name: &str) -> bool {
    name == crate::TRASH || name.starts_with('.') && is_discarded(name)
}

/// The same of a folder on a server, with the folders that it lies in.
pub fn can_be_trash_on_server(name: &str) -> bool {
    name.split(['/', '.']).any(is_discarded)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::folder_name::composed;

    #[test]
    fn the_tables_are_in_lower_case_and_hold_each_name_once() {
        let all = || DISCARDED.iter().chain(DRAFTS);
        assert!(all().all(|name| composed(&name.to_lowercase()) == **name));
        assert_eq!(all().collect::<HashSet<_>>().len(), all().count());
        assert!(
            AMBIGUOUS
                .iter()
                .all(|name| all().any(|known| known == name))
        );
    }

    #[test]
    fn what_was_let_go_is_left_out() {
        for (name, here, there) in [
            (".Twicetold-Trash", true, false),
            (".Trash", true, true),
            (".INBOX.Trash", true, true),
            ("Trash", false, true),
            ("INBOX/Trash", false, true),
            (".Old", false, false),
            ("Archive", false, false),
            ("", false, false),
        ] {
            let found = (can_be_trash(name), can_be_trash_on_server(name));
            assert_eq!(found, (here, there), "{name}");
        }
    }

    #[test]
    fn names() {
        for name in [
            "Trash",
            ".Trash",
            ".INBOX.Trash",
            ".Trash.2023",
            ".[Gmail].Spam",
            "Junk.mbox",
            "SPAM",
            ".Gelöschte Elemente",
        ] {
            assert!(is_discarded(name), "{name}");
        }
        for name in [
            "Trashed plans",
            ".Archive",
            ".Spam reports",
            "mbox",
            ".",
            "",
        ] {
            assert!(!is_discarded(name), "{name}");
        }
    }
}
