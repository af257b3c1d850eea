//! The commonest words of some languages, and the words that deny, in many.
//!
//! Three tables, each with its own use. *Stop* words are left out of fingerprints because they tell
//! nothing; being left out can cost a candidate, never content. *Free* words (articles and their
//! like) may come or go between two texts that say the same. *Negations* are facts: they may not.

use std::sync::LazyLock;

use twicetold_model::{Language, WordFlags};

use super::normal::hash_of;

/// What is known about a common word.
#[derive(Clone, Copy, Default)]
pub(super) struct Common {
    /// A vote for every language in which the word is common.
    pub(super) languages: Votes,
    /// Bit `n` is set if the word is free in `LANGUAGES[n]`.
    pub(super) free: u32,
    /// STOP and NEGATION, where they hold in any language.
    pub(super) flags: WordFlags,
}

/// A number of one byte for every language, eight of which are added at once.
type Votes = [u64; LANGUAGES.len().div_ceil(8)];

/// A language, its free words, and the other words so common that they show the language and tell nothing.
struct Row {
    language: Language,
    free: &'static str,
    stop: &'static str,
}

const LANGUAGES: &[Row] = &[
    Row {
        language: Language::English,
        free: "the a an that",
        stop: "to and of in from for on is http was www about hi hey dear i will it be this with as at by have \
               are you we or they he she his her our your their my me us them has had were been would can could \
               should if so but which who what when there than then also any all am do does did",
    },
    Row {
        language: Language::German,
        free: "der die das den dem des ein eine einen einem einer eines",
        stop: "und zu von mit ist im für auf sich auch es an er sie wir ich werden aus hat dass wie bei oder um \
               sind noch nach so zum haben nur als am aber vor durch wenn",
    },
    Row {
        language: Language::French,
        free: "le la les un une des",
        stop: "de et à en que qui dans pour est du au il sur se avec plus par ce son je vous nous mais ou elle \
               cette aux leur sont être avoir été",
    },
    Row {
        language: Language::Spanish,
        free: "el la los las un una unos unas",
        stop: "de que y en a se del por con para su al lo como más o este sí es le ya pero fue ha esta son",
    },
    Row {
        language: Language::Italian,
        free: "il lo la i gli le un uno una",
        stop: "di che e è in per del con si da al dei come anche alla della più ma nel sono ha questo ci",
    },
    Row {
        language: Language::Portuguese,
        free: "o os as um uma uns umas",
        stop: "de que e do da em para com se na por mais dos como mas ao ele das à seu sua ou quando muito nos já",
    },
    Row {
        language: Language::Dutch,
        free: "de het een",
        stop: "van en in te dat is op voor met zijn aan er om ook als maar bij nog uit wordt door naar heeft wij ik",
    },
    Row {
        language: Language::Swedish,
        free: "en ett den det",
        stop: "och att i som på är av för med till har de om var sig från men så kan vi jag ska",
    },
    Row {
        language: Language::Danish,
        free: "en et den det",
        stop: "og at i er på til af for med som de har var om kan vi jeg skal fra så men",
    },
    Row {
        language: Language::Norwegian,
        free: "en ei et den det",
        stop: "og å i er på til av for med som har de var om kan vi jeg skal fra så men",
    },
    Row {
        language: Language::Finnish,
        free: "",
        stop: "ja on että se hän oli mutta kun niin myös tai ovat joka kuin tämä minä sinä",
    },
    Row {
        language: Language::Russian,
        free: "",
        stop: "и в на что он с как это по но из у за к от же вы мы я бы для о",
    },
    Row {
        language: Language::Polish,
        free: "",
        stop: "i w na się z do to że jest o jak po co tak za od ale czy przez dla już ma są przy oraz który",
    },
    Row {
        language: Language::Czech,
        free: "",
        stop: "a v na se je že to s z do o k i ve pro za by jsem ale jako tak od po si co při jsou který u bude",
    },
    Row {
        language: Language::Turkish,
        free: "",
        stop: "ve bir bu da de için ile çok daha gibi olarak olan ama kadar en ben biz o ne mi",
    },
    Row {
        language: Language::Romanian,
        free: "",
        stop: "și de la în cu pe pentru este că din care mai un o sunt au fost sau dar se să ca",
    },
    Row {
        language: Language::Hungarian,
        free: "a az egy",
        stop: "és hogy is ez meg de csak már van mint lesz el vagy még volt ha kell ezt",
    },
];

const NEGATIONS: &str = "not no never none nobody nothing nowhere neither nor without cannot hardly \
    nicht kein keine keinen keinem keiner keines nie niemals nichts niemand ohne weder \
    ne pas jamais rien aucun aucune sans ni personne nunca jamás nada nadie sin ningún ninguna ninguno tampoco \
    non mai niente nulla nessuno nessuna senza né não nem nenhum nenhuma sem ninguém \
    niet geen nooit niets niemand zonder inte ej aldrig ingen inget inga utan ikke aldri ingenting uden uten \
    ei emme ette eivät älä eikä koskaan mikään ilman nie bez nigdy nic nikt żaden ani nikdy nikdo žádný \
    не нет ни никогда ничего никто без нельзя нема нічого ніколи ніхто немає δεν μην όχι ποτέ χωρίς κανένας τίποτα \
    değil yok hayır asla hiç olmadan nem sem soha semmi nincs nélkül nu niciodată nimic fără nimeni \
    لا لم لن ليس ليست بدون غير לא אין אל בלי אף ไม่ 不 没 沒 未 无 無 别 別 勿 没有 沒有 不是 不会 不會 不能 \
    ない なかっ ません ず ぬ なし 안 못 없다 않다 아니다 नहीं मत không chưa chẳng tidak bukan tanpa jangan";

/// Names of weekdays and months. Left out are those that are common words besides ("may", "sat", "sun", "mar").
const CALENDAR: &str = "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri \
    january february march april june july august september october november december jan feb apr jun jul aug sep sept \
    oct nov dec montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag januar jänner februar märz mai juni \
    juli oktober dezember lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet \
    août septembre octobre novembre décembre lunes martes miércoles jueves viernes sábado domingo enero febrero marzo \
    abril mayo junio julio agosto septiembre octubre noviembre diciembre lunedì martedì mercoledì giovedì venerdì sabato \
    domenica gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre segunda terça quarta quinta sexta \
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro maandag dinsdag woensdag donderdag \
    vrijdag zaterdag zondag januari februari maart mei augustus måndag tisdag onsdag torsdag fredag lördag söndag \
    mandag tirsdag lørdag søndag tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu \
    marraskuu joulukuu maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai понедельник вторник среда \
    четверг пятница суббота воскресенье января февраля марта апреля мая июня июля августа сентября октября ноября декабря \
    poniedziałek wtorek środa czwartek piątek sobota niedziela stycznia lutego marca kwietnia maja czerwca lipca sierpnia \
    września października listopada grudnia pondělí úterý středa čtvrtek pátek neděle ledna února března dubna května \
    června července srpna září října listopadu prosince pazartesi salı çarşamba perşembe cuma cumartesi pazar ocak şubat \
    mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık 星期一 星期二 星期三 星期四 星期五 星期六 星期日 周一 周二 周三 周四 周五 周六 \
    周日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日 월요일 화요일 수요일 목요일 금요일 토요일 일요일";

/// Characters that deny wherever they stand in a word of a language written without spaces.
const DENYING: &[char] = &['不', '没', '沒', '未', '无', '無', '勿', '非'];

/// How many places a [`Table`] has: a few times as many as there are words, so that most misses end at once.
const PLACES: usize = 4096;

/// How many bits tell most other words from common ones; they fit well into the nearest cache.
const SIEVE_BITS: usize = 1 << 15;

/// The place of all words that are not common, behind the others.
pub(super) const NONE: u16 = PLACES as u16;

/// The common words by their hash. The keys are hashes already, so a place is some bits of them.
pub(super) struct Table {
    /// Zero where nothing is; a word stands at its place, or behind it up to the next gap.
    hashes: Box<[u64; PLACES]>,
    /// What is known of the word at each place, and at [`NONE`] of all others: nothing.
    known: Box<[Common; PLACES + 1]>,
    /// The bit of every common word is set, by other bits of its hash than its place, and a few besides.
    sieve: Box<[u64; SIEVE_BITS / 64]>,
}

impl Table {
    /// The table of all the words below; made once.
    pub(super) fn get() -> &'static Self {
        static TABLE: LazyLock<Table> = LazyLock::new(Table::build);
        &TABLE
    }

    /// Whether the word with this hash may be a common one; for others it is rarely so.
    #[inline]
    fn may_hold(&self, hash: u64) -> bool {
        let bit = (hash >> 32) as usize % SIEVE_BITS;
        self.sieve[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// The place of the word with this hash, or [`NONE`] if it is no common one.
    #[inline]
    pub(super) fn place(&self, hash: u64) -> u16 {
        if !self.may_hold(hash) {
            return NONE;
        }
        let mut place = hash as usize % PLACES;
        loop {
            match self.hashes[place] {
                0 => return NONE,
                found if found == hash => return place as u16,
                _ => place = (place + 1) % PLACES,
            }
        }
    }

    /// What is known about the word at a place.
    #[inline]
    pub(super) fn at(&self, place: u16) -> &Common {
        &self.known[usize::from(place.min(NONE))]
    }

    fn build() -> Self {
        let mut table = Self {
            hashes: Box::new([0; PLACES]),
            known: Box::new([Common::default(); PLACES + 1]),
            sieve: Box::new([0; SIEVE_BITS / 64]),
        };
        for (n, row) in LANGUAGES.iter().enumerate() {
            for (words, free) in [(row.free, true), (row.stop, false)] {
                for word in words.split_whitespace() {
                    let entry = table.entry(word);
                    entry.languages[n / 8] |= 1 << (8 * (n % 8));
                    entry.free |= u32::from(free) << n;
                    entry.flags.set(WordFlags::STOP);
                }
            }
        }
        for word in NEGATIONS.split_whitespace() {
            // A word that is an article in one language and a denial in another ("en") stays a stop word
            // there; only the denial must never be free.
            table.entry(word).flags.set(WordFlags::NEGATION);
        }
        for word in CALENDAR.split_whitespace() {
            table.entry(word).flags.set(WordFlags::CALENDAR);
        }
        table
    }

    /// The entry of a word, made if there is none. There are far more places than words.
    fn entry(&mut self, word: &str) -> &mut Common {
        let hash = hash_of(word);
        let mut place = hash as usize % PLACES;
        while self.hashes[place] != 0 && self.hashes[place] != hash {
            place = (place + 1) % PLACES;
        }
        self.hashes[place] = hash;
        let bit = (hash >> 32) as usize % SIEVE_BITS;
        self.sieve[bit / 64] |= 1 << (bit % 64);
        &mut self.known[place]
    }
}

/// Whether a word written without spaces around it holds a denying character.
pub(super) fn denies(normal: &str) -> bool {
    normal.contains(DENYING)
}

/// Votes for languages by the common words seen.
#[derive(Default)]
pub(super) struct Ballot {
    counted: [u32; LANGUAGES.len()],
}

/// So many words vote at a time: no byte of their votes runs over.
pub(super) const VOTERS: usize = u8::MAX as usize;

impl Ballot {
    /// Counts the votes of up to [`VOTERS`] words.
    #[inline]
    pub(super) fn count<'w>(&mut self, words: impl Iterator<Item = &'w Common>) {
        // In registers, as long as they are counted.
        let mut fresh = Votes::default();
        for word in words.take(VOTERS) {
            for (votes, one) in fresh.iter_mut().zip(&word.languages) {
                *votes += one;
            }
        }
        let fresh = fresh.iter().flat_map(|eight| eight.to_le_bytes());
        for (votes, fresh) in self.counted.iter_mut().zip(fresh) {
            *votes += u32::from(fresh);
        }
    }

    /// The winner's number and name, if at least three and one in seven of the words voted for it; on equal votes the
    /// earlier row.
    pub(super) fn winner(&self, words: usize) -> Option<(usize, Language)> {
        let (n, &votes) = self
            .counted
            .iter()
            .enumerate()
            .max_by_key(|&(n, votes)| (votes, std::cmp::Reverse(n)))?;
        (votes >= 3 && votes as usize * 7 >= words)
            .then(|| LANGUAGES.get(n).map(|row| (n, row.language)))
            .flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(hash: u64) -> Option<Common> {
        let table = Table::get();
        let place = table.place(hash);
        (place != NONE).then(|| *table.at(place))
    }

    #[test]
    fn every_word_of_the_tables_is_found_and_no_other() {
        let rows = LANGUAGES.iter().flat_map(|row| [row.free, row.stop]);
        let words: std::collections::HashSet<&str> = rows
            .chain([NEGATIONS, CALENDAR])
            .flat_map(str::split_whitespace)
            .collect();
        assert!(words.len() * 2 < PLACES, "the table has gaps");
        assert!(words.iter().all(|word| common(hash_of(word)).is_some()));
        let taken = Table::get().hashes.iter().filter(|hash| **hash != 0);
        assert_eq!(taken.count(), words.len());
        assert!(common(0).is_none() && common(hash_of("budget")).is_none());
    }

    #[test]
    fn a_denial_is_known_in_every_script() {
        for word in ["not", "nicht", "jamais", "не", "不", "ない", "لا", "không"] {
            assert!(
                common(hash_of(word)).is_some_and(|c| c.flags.has(WordFlags::NEGATION)),
                "{word} denies"
            );
        }
    }

    #[test]
    fn no_english_denial_is_a_free_word() {
        for word in NEGATIONS.split_whitespace() {
            let free = common(hash_of(word)).map(|c| c.free & 1);
            assert_eq!(free, Some(0), "{word} must not be free in English");
        }
    }

    #[test]
    fn an_article_shows_its_language() {
        let mut ballot = Ballot::default();
        let words =
            ["der", "und", "das", "ist"].map(|word| common(hash_of(word)).unwrap_or_default());
        ballot.count(words.iter());
        assert_eq!(ballot.winner(9).map(|w| w.1), Some(Language::German));
    }
}
