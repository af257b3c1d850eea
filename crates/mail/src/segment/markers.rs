//! Tables: how mail programs mark what they quote, in many languages.
//!
//! Everything is written as [`fold`](super::fold::fold) leaves it: lower case, plain apostrophes,
//! hyphens and colons.

/// Words of writing that end an attribution or stand inside it: "… wrote:", "Am … schrieb …:".
pub(super) const WROTE: &[&str] = &[
    // en de fr es it pt
    "wrote", "writes", "schrieb", "schrieben sie", "geschrieben", "schreibt", "a écrit", "a ecrit",
    "écrit", "nous a dit", "escribió", "escribio", "ha escrito", "escribía", "ha scritto",
    "scrive", "escreveu", "escreveu o seguinte",
    // nl sv da nb nn fi
    "schreef", "het volgende geschreven", "geschreven", "verzond", "skrev", "skrev följande",
    "följande", "skrev følgende", "skreiv", "kirjoitti",
    // pl cs sk hu ro
    "pisze", "napisał", "napisała", "napisał(a)", "nadesłał", "napsal", "napsala", "napsal(a)",
    "napísal", "napísala", "napísal(a)", "írta", "ezt írta", "a scris",
    // ru uk be bg mk sr
    "пишет", "писал", "писал(а)", "написал", "написала", "написал(а)", "написал(-а)", "пише",
    "написав", "написав(ла)", "напісаў", "напісаў(ла)", "написа", "напиша", "је написао",
    "је написао/ла",
    // el tr hr bs sl sq lt lv et is
    "έγραψε", "έγραψε τα εξής", "şunu yazdı", "yazdı", "şunları yazdı", "je napisao/la",
    "je napisao", "je napisala", "napisao", "napisala", "napisal", "napisal/a", "shkroi", "rašė",
    "parašė", "rakstīja", "kirjutas", "skrifaði",
    // ca gl ast eu ga gd cy br fy rm hsb dsb af
    "ha escrit", "va escriure", "escribiu", "idatzi zuen", "idatzi du", "scríobh", "sgrìobh",
    "ysgrifennodd", "eo bet skrivet gant", "skreau", "ha scrit", "napisa", "napisał/a",
    "het geskryf",
    // hy ka km vi id ms hi bn th
    "գրել է", "գրեց", "დაწერა", "บอกว่า", "เขียนว่า", "បានសរសេរ", "đã viết", "menulis", "bertulis",
    "ने लिखा", "লিখেছেন",
    // zh ja ko ar he fa
    "写道", "寫道", "写于", "撰写", "のメッセージ", "さんは書きました", "さんが書きました", "이(가) 쓴 글", "쓴 글", "작성", "님이 작성",
    "님이 작성하였습니다", "كتب", "كتبت", "ما يلي بواسطة", "מאת", "כתב", "כתב/ה", "כתבה", "نوشت",
];

/// Words that end an attribution only: inside a sentence they are too common.
pub(super) const SAID: &[&str] = &[
    "said", "says", "sent", "typed", "spake", "claimed", "sagte", "dixit", "a dit", "zei", "sa",
];

/// How an attribution starts.
pub(super) const LEADS: &[&str] = &[
    "on", "at", "in message", "in article", "in a message dated", "in reply to", "quoting", "am",
    "um", "zitat von", "le", "quelques mots de", "el", "el día", "citando a", "citando", "il",
    "il giorno", "in data", "citazione", "em", "às", "op", "den", "citat", "w dniu", "dnia",
    "cytowanie", "dne", "citace", "dňa", "la", "în", "în data de", "на", "στις", "më", "þann", "o",
    "ar", "d'an", "ils", "vào", "pada", "u", "dana", "kl.", "klo", "v", "date", "from", "from:",
    "posted by", "thus spake", "according to", "also sprach", "---", "在", "於", "于", "على", "في",
    "בתאריך", "ב", "ב-", "به تاریخ",
];

/// Who may have written without a name being given: such a line names nobody.
pub(super) const PRONOUNS: &[&str] = &[
    "he", "she", "they", "it", "i", "we", "who", "that", "this", "as", "and", "which", "also",
    "then", "someone", "somebody", "one", "er", "sie", "ich", "wir", "il", "elle", "ils", "je",
    "on", "él", "ella", "yo", "lui", "lei", "io", "hij", "zij", "ze", "ik", "han", "hon", "hun",
    "jag", "jeg", "hän", "ona", "он", "она", "я", "они", "eu", "ele", "ela", "der", "wie",
    "comme", "como", "come",
];

/// "Original message", which stands between dashes, or above a block of headers.
pub(super) const ORIGINAL: &[&str] = &[
    "oorspronklike boodskap", "الرسالة الأصلية", "الرسالة الأصليَّة", "mensaxe orixinal",
    "зыходны ліст", "оригинално писмо", "оригинално съобщение", "মূল বার্তা", "kemennadenn orinel",
    "missatge original", "původní zpráva", "původní e-mail", "neges wreiddiol",
    "oprindelig meddelelse", "oprindelig besked", "original-nachricht", "originalnachricht",
    "ursprüngliche nachricht", "urspruengliche nachricht", "ursprüngliche mitteilung",
    "ursprüngliche e-mail", "antwort nachricht", "originalna powěsć", "αρχικό μήνυμα",
    "original message", "original appointment", "original e-mail", "original email",
    "original mail", "reply message", "replied message", "message from original sender",
    "mensaje original", "algne kiri", "algsõnum", "jatorrizko mezua", "alkuperäinen viesti",
    "alkuperäinen viesti / orig.msg.", "orig.msg.", "message original", "message d'origine",
    "message initial", "courriel original", "oarspronklik berjocht", "teachtaireacht bhunaidh",
    "an teachdaireachd thùsail", "મૂળ સંદેશો", "הודעה מקורית", "मूल संदेश", "izvorna poruka",
    "originalna poruka", "eredeti üzenet", "օրիգինալ նամակը", "pesan asli", "pesan asal",
    "upprunalegur póstur", "upprunaleg skilaboð", "messaggio originale", "messaggio originario",
    "საწყისი წერილი", "원본 메시지", "원본 메일", "originalus laiškas", "pirminis laiškas",
    "sākotnējais ziņojums", "оригинална порака", "изворна порука", "opprinnelig melding",
    "opprinnelig epost", "oorspronkelijk bericht", "origineel bericht", "oorspronkelijke bericht",
    "opphavleg melding", "treść oryginalnej wiadomości", "oryginalna wiadomość",
    "wiadomość oryginalna", "wiadomość pierwotna", "mensagem original", "messadi original",
    "mesajul original", "mesaj original", "исходное сообщение", "оригинальное сообщение",
    "пересланное сообщение", "මුල් ලිපිය", "pôvodná správa", "izvirno sporočilo",
    "mesazhi origjinal", "ursprungligt meddelande", "originalmeddelande", "özgün ileti",
    "orijinal mesaj", "orijinal ileti", "özgün mesaj", "початкове повідомлення",
    "оригінальне повідомлення", "вихідне повідомлення", "thư gốc", "tin nhắn gốc",
    "umyalezo wakuqala", "ข้อความต้นฉบับ", "ข้อความเดิม", "原始消息", "原始邮件", "邮件原件", "原始郵件", "原始信件",
    "原邮件", "元のメッセージ", "元のメール", "オリジナル メッセージ", "پیام اصلی",
];

/// "Forwarded message", which stands between dashes, or above a block of headers.
pub(super) const FORWARDED: &[&str] = &[
    "forwarded message", "forwarded mail", "forwarded email", "forwarded e-mail",
    "forwarded letter", "forwarded conversation", "begin forwarded message",
    "start of forwarded message", "begin included message", "included message", "begin message",
    "fwd", "začátek přeposílané zprávy", "přeposlaná zpráva", "start på videresendt besked",
    "videresendt meddelelse", "videresendt besked", "anfang der weitergeleiteten nachricht",
    "anfang der weitergeleiteten e-mail", "weitergeleitete nachricht", "weitergeleitete e-mail",
    "inicio del mensaje reenviado", "mensaje reenviado", "mensaje remitido",
    "välitetty viesti alkaa", "välitetty viesti", "välitetty viesti / fwd.msg",
    "edelleenlähetetty viesti", "lähetetty viesti", "début du message réexpédié",
    "début du message transféré", "message transmis", "message transféré", "message réexpédié",
    "courriel transféré", "započni proslijeđenu poruku", "proslijeđena poruka",
    "prosleđena poruka", "прослеђена порука", "továbbított levél kezdete", "továbbított üzenet",
    "továbbított levél", "inizio messaggio inoltrato", "messaggio inoltrato",
    "begin doorgestuurd bericht", "doorgestuurd bericht", "videresendt melding",
    "vidaresend melding", "początek przekazywanej wiadomości", "przekazana wiadomość",
    "treść przekazanej wiadomości", "wiadomość przesłana dalej", "wiadomość przekazana",
    "início da mensagem reencaminhada", "início da mensagem encaminhada", "mensagem reencaminhada",
    "mensagem encaminhada", "începe mesajul redirecționat", "mesaj redirecționat",
    "mesaj redirecţionat", "mesaj redirectionat", "начало переадресованного сообщения",
    "пересылаемое сообщение", "перенаправленное сообщение", "переадресованное сообщение",
    "пересланное письмо", "začiatok preposlanej správy", "preposlaná správa",
    "vidarebefordrat mejl", "vidarebefordrat meddelande", "vidarebefordrat brev",
    "ileti başlangıcı", "iletilmiş mesaj", "iletilen ileti", "iletilmiş ileti",
    "yönlendirilmiş ileti", "початок листа, що пересилається", "перенаправлене повідомлення",
    "переслане повідомлення", "رسالة ممررة", "رسالة ممرّرة", "رسالة معاد توجيهها",
    "mensaxe reunviáu", "накіраваны ліст", "missatge reenviat", "edastatud kiri",
    "edastatud sõnum", "birbidalitako mezua", "trochstjoerd berjocht", "teachtaireacht ar aghaidh",
    "mensaxe reenviada", "փոխանցվող նամակը", "áframsendur póstur", "メッセージを転送", "転送メール", "転送メッセージ",
    "転送されたメッセージ", "전달된 메시지", "전달된 메일", "persiųstas laiškas", "pārsūtītais ziņojums",
    "messadi renvià", "posredovano sporočilo", "mesazhi i përcjellë", "препратено съобщение",
    "προωθημένο μήνυμα", "הודעה שהועברה", "thư đã chuyển tiếp", "tin nhắn đã chuyển tiếp",
    "pesan terusan", "转发的消息", "转发邮件", "转发的邮件", "轉寄郵件", "轉寄的郵件", "轉寄的信件", "ข้อความที่ส่งต่อ",
    "پیام ارسال شده",
];

/// Openings of rules that go on with a name or a date: "--- Forwarded by X on … ---".
pub(super) const RULE_OPENINGS: &[&str] = &[
    "forwarded by", "forwarded message from", "forwarded mail from", "original message from",
    "original message follows", "original message processed by", "weitergeleitet von",
    "transféré par", "reenviado por", "inoltrato da", "doorgestuurd door", "vidarebefordrat av",
    "videresendt av", "videresendt af", "encaminhado por", "przesłane przez", "messages from",
    "included message from", "replying to message from", "begin forwarded",
    "forwarded with changes",
];

/// Openings of rules that close a quotation.
pub(super) const RULE_ENDINGS: &[&str] = &[
    "end of forwarded message", "end forwarded message", "end of original message",
    "end original message", "end included message", "end of included message", "end of message",
    "ende der weitergeleiteten nachricht", "ende der ursprünglichen nachricht",
    "fin du message transféré", "fin du message réexpédié", "fin del mensaje reenviado",
    "fine messaggio inoltrato", "einde doorgestuurd bericht", "конец пересылаемого сообщения",
    "конец переадресованного сообщения",
];

/// Which header a label of a header block names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Label {
    From,
    Date,
    To,
    Copy,
    Subject,
    /// Anything else that mail programs put there: importance, attachments.
    Other,
}

/// The labels of quoted header blocks.
pub(super) const LABELS: &[(Label, &[&str])] = &[
    (
        Label::From,
        &[
            "from", "von", "de", "da", "van", "od", "fra", "från", "fran", "lähettäjä", "šalje",
            "feladó", "expeditorul", "expeditor", "de la", "de-la", "отправитель", "от", "от кого",
            "від", "від кого", "kimden", "gönderen", "mittente", "nadawca", "saatja", "remitente",
            "remetente", "afzender", "avsändare", "afsender", "avsender", "absender", "expéditeur",
            "odosielateľ", "odesílatel", "pošiljatelj", "pošiljalac", "од", "ад", "από",
            "nga", "frá", "no", "nuo", "kellelt", "dari", "từ", "จาก", "发件人", "寄件者", "寄件人", "送信元",
            "送信者", "差出人", "보낸사람", "보낸 사람", "보내는 사람", "발신", "من", "מאת", "از", 
            "ó", "oddi wrth", "nork", "desde", "ումից", "sender", "author",
        ],
    ),
    (
        Label::Date,
        &[
            "date", "sent", "received", "datum", "dato", "data", "dată", "дата", "tarih", "dátum",
            "fecha", "päivämäärä", "päiväys", "päivä", "envoyé", "envoyé le", "envoye", "gesendet",
            "gesendet am", "sendt", "skickat", "skickat den", "datum och tid", "enviado",
            "enviado el", "enviada em", "enviado em", "enviada", "inviato", "inviata", "verzonden",
            "verstuurd", "wysłano", "wysłane", "data wysłania", "odesláno", "odoslané", "elküldve",
            "lähetetty", "trimis", "trimis la", "отправлено", "надіслано",
            "відправлено", "изпратено", "gönderilen", "gönderildi", "gönderme tarihi",
            "gönderilme tarihi", "poslano", "poslato", "послато", "saadetud", "kuupäev",
            "išsiųsta", "nosūtīts", "dagsetning", "ημερομηνία", "στάλθηκε", "εστάλη", "tanggal",
            "dikirim", "ngày", "đã gửi", "วันที่", "ส่ง", "发送时间", "发送日期", "日期", "时间", "寄件日期",
            "傳送時間", "日付", "日時", "送信日時", "送信日", "보낸날짜", "보낸 날짜", "날짜", "발송일", "التاريخ",
            "تاريخ الإرسال", "المرسلة", "أرسلت", "תאריך", "נשלח", "تاریخ", "дата отправки",
            "data de envio", "date d'envoi", "dáta", "дата и время",
        ],
    ),
    (
        Label::To,
        &[
            "to", "an", "à", "a", "para", "aan", "til", "till", "komu", "do", "adresat", "pre",
            "prima", "címzett", "vastaanottaja", "destinatarul", "către", "catre", "кому", "kime",
            "alıcı", "pour", "destinataire", "destinatario", "destinatário", "destinataires", "za",
            "за", "до", "προς", "për", "kam", "kellele", "saaja", "adresatas",
            "kepada", "đến", "tới", "ถึง", "收件人", "收件者", "送信先", "宛先", "받는사람", "받는 사람", "수신", "수신자",
            "إلى", "אל", "به", "per", "empfänger", "nori", "mottagare", "modtager",
        ],
    ),
    (
        Label::Copy,
        &[
            "cc", "bcc", "kopie", "kopi", "kopia", "kopio", "kópia", "másolat",
            "másolatot kap", "dw", "udw", "do wiadomości", "копия", "копія", "bilgi", "copie à",
            "copie a", "copie", "copia", "cópia", "kopie (cc)", "copia a", "с копия", "κοιν",
            "κοινοποίηση", "抄送", "副本", "密送", "참조", "نسخة", "עותק", "c.c.", "ccn", "cci",
            "cco", "tembusan", "สำเนา", "afrit",
        ],
    ),
    (
        Label::Subject,
        &[
            "subject", "betreff", "objet", "sujet", "asunto", "assunto", "oggetto", "onderwerp",
            "emne", "ämne", "aihe", "předmět", "predmet", "naslov", "tárgy", "temat", "subiect",
            "subiectul", "тема", "konu", "主题", "主旨", "件名", "题目", "標題", "主題", "제목", "الموضوع",
            "נושא", "موضوع", "относно", "наслов", "предмет", "θέμα", "zadeva", "teema", "tema",
            "temats", "efni", "perihal", "subjek", "chủ đề", "tiêu đề", "เรื่อง", "หัวเรื่อง",
            "assumpte", "gaia", "subjekt",
        ],
    ),
    (
        Label::Other,
        &[
            "reply-to", "reply to", "antwort an", "antwort-an", "répondre à", "répondre-à",
            "responder a", "rispondi a", "risposta", "respuesta", "réponse", "antwoord aan",
            "antwoord-aan", "beantwoorden aan", "svar til", "svara till", "vastaus", "odpověď na",
            "odpovedať pre", "odpowiedź do", "odgovori na", "válaszcím", "răspuns către",
            "ответ-кому", "ответ кому", "кому відповісти", "yanıt adresi", "importance",
            "wichtigkeit", "priority", "priorität", "priorité", "importancia", "importância",
            "priorità", "urgentie", "prioritet", "важность", "sensitivity", "attachments",
            "attachment", "anlagen", "anhänge", "pièces jointes", "datos adjuntos", "allegati",
            "bijlagen", "bilagor", "vedhæftede filer", "załączniki", "вложения", "附件", "添付ファイル",
            "organization", "newsgroups", "message-id", "references", "in-reply-to", "when",
            "mailed-by", "signed-by", "return-path", "x-mailer", "user-agent", "mime-version",
            "content-type", "content-transfer-encoding", "delivered-to", "resent-from",
            "resent-to", "resent-date", "list-id", "重要性",
        ],
    ),
];

/// Lines of programs that the sender did not write: opening, ending, both folded.
pub(super) const SENT_FROM: &[(&str, &str)] = &[
    ("sent from my", ""), ("sent from", ""), ("sent via", ""), ("sent with", ""),
    ("sent using", ""), ("sent by", ""), ("get outlook for", ""), ("von meinem", "gesendet"),
    ("von meiner", "gesendet"), ("gesendet von", ""), ("gesendet mit", ""),
    ("diese nachricht wurde von meinem", ""), ("outlook für", ""),
    ("holen sie sich outlook für", ""), ("hol dir outlook für", ""), ("envoyé de mon", ""),
    ("envoyé depuis", ""), ("envoyé à partir", ""), ("envoyé avec", ""),
    ("télécharger outlook pour", ""), ("obtenez outlook pour", ""), ("obtenir outlook pour", ""),
    ("enviado desde", ""), ("enviado do meu", ""), ("enviado do", ""), ("enviado a partir", ""),
    ("enviado con", ""), ("enviat des", ""), ("obtener outlook para", ""),
    ("obter o outlook para", ""), ("obter outlook para", ""), ("inviato da", ""),
    ("inviato dal mio", ""), ("scarica outlook per", ""), ("ottieni outlook per", ""),
    ("verzonden vanaf mijn", ""), ("verstuurd vanaf mijn", ""), ("verzonden met", ""),
    ("verzonden vanaf", ""), ("outlook voor", ""), ("download outlook voor", ""),
    ("sendt fra min", ""), ("sendt fra", ""), ("hent outlook til", ""),
    ("skaff deg outlook for", ""), ("skickat från min", ""), ("skickat från", ""),
    ("hämta outlook för", ""), ("lähetetty", ""), ("hanki outlook for", ""), ("wysłano z", ""),
    ("wysłane z", ""), ("pobierz outlook dla", ""), ("odesláno z", ""), ("odoslané z", ""),
    ("küldve", ""), ("trimis de pe", ""), ("отправлено с", ""), ("надіслано з", ""),
    ("изпратено от", ""), ("poslano z", ""), ("poslano s", ""), ("στάλθηκε από", ""),
    ("", "'dan gönderildi"), ("", "'umdan gönderildi"), ("", "'imden gönderildi"),
    ("được gửi từ", ""), ("gửi từ", ""), ("dikirim dari", ""), ("从我的", "发送"), ("發自我的", ""),
    ("发自我的", ""), ("從我的", "傳送"), ("來自我的", ""), ("来自我的", ""), ("", "から送信"), ("내", "에서 보냄"),
    ("나의", "에서 보냄"), ("أرسلت من", ""), ("تم الإرسال من", ""), ("נשלח מה", ""), ("נשלח מ", ""),
    ("ส่งจาก", ""), ("मेरे", "से भेजा गया"),
];

/// What such a line names.
pub(super) const DEVICES: &[&str] = &[
    "iphone", "ipad", "ipod", "android", "blackberry", "galaxy", "samsung", "smartphone", "phone",
    "mobile", "mobil", "móvil", "movil", "handy", "handheld", "treo", "wireless", "nokia", "htc",
    "motorola", "huawei", "xiaomi", "redmi", "oneplus", "oppo", "pixel", "tablet", "tableta",
    "verizon", "at&t", "t-mobile", "windows", "outlook", "yahoo", "aol", "gmail", "mail",
    "thunderbird", "proton", "telefon", "téléphone", "teléfono", "telemóvel", "celular",
    "telefono", "telefoon", "puhelime", "телефон", "айфон", "ios", "mac", "mailbox", "sparrow",
    "nine", "spark", "手机", "手機", "携帯", "スマートフォン",
];
