//! Names of secrets in languages other than English, and the header fields in which exchanges expect
//! credentials.

use super::class::{Class, strong, weak};
use super::fold;
use std::sync::LazyLock;

/// Names in scripts without Latin letters: Chinese (simplified, traditional), Japanese, Korean, Russian, Ukrainian, Greek,
/// Arabic, Persian, Hebrew, Hindi and Thai.
#[rustfmt::skip]
const WORLD: &[(&str, &str)] = &[
    ("密码", "password"), ("密碼", "password"), ("口令", "password"), ("私钥", "private_key"), ("私鑰", "private_key"),
    ("私密金鑰", "private_key"), ("密钥", "api_key"), ("密鑰", "api_key"), ("金鑰", "api_key"), ("令牌", "token"), ("權杖", "token"),
    ("助记词", "mnemonic"), ("助記詞", "mnemonic"), ("凭证", "credential"), ("凭据", "credential"), ("憑證", "credential"),
    ("パスワード", "password"), ("パスフレーズ", "password"), ("暗証番号", "password"), ("秘密鍵", "private_key"), ("apiキー", "api_key"),
    ("アクセスキー", "api_key"), ("シークレットキー", "secret"), ("トークン", "token"), ("シードフレーズ", "mnemonic"), ("ニーモニック", "mnemonic"),
    ("비밀번호", "password"), ("패스워드", "password"), ("암호", "password"), ("개인키", "private_key"), ("개인 키", "private_key"), ("비밀키", "secret"),
    ("비밀 키", "secret"), ("api 키", "api_key"), ("api키", "api_key"), ("토큰", "token"), ("시드 구문", "mnemonic"), ("니모닉", "mnemonic"),
    ("пароль", "password"), ("секретный ключ", "secret"), ("закрытый ключ", "private_key"), ("приватный ключ", "private_key"),
    ("api-ключ", "api_key"), ("api ключ", "api_key"), ("ключ api", "api_key"), ("ключ доступа", "api_key"), ("токен", "token"), ("сид-фраза", "mnemonic"), ("сид фраза", "mnemonic"),
    ("секретний ключ", "secret"), ("закритий ключ", "private_key"), ("приватний ключ", "private_key"),
    ("κωδικός πρόσβασης", "password"), ("κωδικός", "password"), ("ιδιωτικό κλειδί", "private_key"),
    ("كلمة المرور", "password"), ("كلمة السر", "password"), ("المفتاح الخاص", "private_key"), ("رمز الوصول", "token"), ("رمز عبور", "password"), ("گذرواژه", "password"),
    ("סיסמה", "password"), ("סיסמא", "password"), ("מפתח פרטי", "private_key"),
    ("पासवर्ड", "password"), ("निजी कुंजी", "private_key"), ("รหัสผ่าน", "password"),
];

/// Names in Latin letters, without accents, with a space where a name can be written in several words: Spanish, Portuguese,
/// French, German, Italian, Dutch, Swedish, Danish, Norwegian, Finnish, Polish, Czech, Hungarian, Romanian, Turkish, Vietnamese
/// and Indonesian.
#[rustfmt::skip]
const LATIN: &[(&str, &str)] = &[
    ("contrasena", "password"), ("clave privada", "private_key"), ("clave secreta", "secret"), ("clave api", "api_key"), ("clave de api", "api_key"),
    ("clave de acceso", "api_key"), ("frase semilla", "mnemonic"), ("frase de recuperacion", "mnemonic"),
    ("senha", "password"), ("chave privada", "private_key"), ("chave secreta", "secret"), ("chave api", "api_key"), ("chave de api", "api_key"),
    ("chave de acesso", "api_key"), ("frase semente", "mnemonic"), ("frase de recuperacao", "mnemonic"),
    ("mot de passe", "password"), ("cle privee", "private_key"), ("cle secrete", "secret"), ("cle api", "api_key"), ("cle d'api", "api_key"),
    ("cle d'acces", "api_key"), ("jeton d'acces", "token"), ("phrase de recuperation", "mnemonic"),
    ("passwort", "password"), ("kennwort", "password"), ("privater schlussel", "private_key"), ("privater schluessel", "private_key"),
    ("geheimer schlussel", "secret"), ("geheimer schluessel", "secret"), ("api schlussel", "api_key"), ("api schluessel", "api_key"), ("zugangsschlussel", "api_key"),
    ("parola d'ordine", "password"), ("chiave privata", "private_key"), ("chiave segreta", "secret"), ("chiave api", "api_key"), ("frase di recupero", "mnemonic"),
    ("wachtwoord", "password"), ("privesleutel", "private_key"), ("api sleutel", "api_key"), ("losenord", "password"), ("privat nyckel", "private_key"),
    ("adgangskode", "password"), ("passord", "password"), ("salasana", "password"), ("yksityinen avain", "private_key"),
    ("haslo", "password"), ("klucz prywatny", "private_key"), ("klucz api", "api_key"), ("heslo", "password"), ("soukromy klic", "private_key"), ("jelszo", "password"),
    ("parola", "password"), ("cheie privata", "private_key"), ("sifre", "password"), ("ozel anahtar", "private_key"), ("gizli anahtar", "secret"), ("api anahtari", "api_key"),
    ("mat khau", "password"), ("khoa rieng", "private_key"), ("khoa bi mat", "secret"), ("kata sandi", "password"), ("kunci privat", "private_key"), ("kunci api", "api_key"),
];

/// Header fields of exchanges and brokers, in addition to the general ones (`X-API-Key`, `…-PASSPHRASE`):
/// Binance, OKX, Bybit, Kraken, Coinbase, KuCoin, Bitget, Gate, MEXC, HTX, Crypto.com, Bitfinex, Bitstamp,
/// Gemini, BingX, Phemex, BitMEX, Bithumb, bitFlyer, Coincheck, CoinEx, BitMart, Bitvavo, AscendEX, WOO X,
/// dYdX, LBank, Deribit and Alpaca.
#[rustfmt::skip]
const HEADERS: &[(&str, &str)] = &[
    ("xmbxapikey", "api_key"), ("okaccesskey", "api_key"), ("okaccesssign", "signature"), ("okaccesspassphrase", "password"),
    ("xbapiapikey", "api_key"), ("xbapisign", "signature"), ("apikey", "api_key"), ("apisign", "signature"), ("authent", "signature"),
    ("cbaccesskey", "api_key"), ("cbaccesssign", "signature"), ("cbaccesspassphrase", "password"),
    ("kcapikey", "api_key"), ("kcapisign", "signature"), ("kcapipassphrase", "password"), ("kcapipartnersign", "signature"),
    ("accesskey", "api_key"), ("accesssign", "signature"), ("accesssignature", "signature"), ("accesspassphrase", "password"),
    ("xmexcapikey", "api_key"), ("bfxapikey", "api_key"), ("bfxsignature", "signature"), ("xauth", "authorization"), ("xauthkey", "api_key"),
    ("xauthsignature", "signature"), ("xgeminiapikey", "api_key"), ("xgeminisignature", "signature"), ("xbxapikey", "api_key"),
    ("xphemexaccesstoken", "token"), ("xphemexrequestsignature", "signature"), ("apisignature", "signature"), ("xapisignature", "signature"),
    ("xcoinexkey", "api_key"), ("xcoinexsign", "signature"), ("xbmkey", "api_key"), ("xbmsign", "signature"),
    ("bitvavoaccesskey", "api_key"), ("bitvavoaccesssignature", "signature"), ("dydxsignature", "signature"), ("dydxapikey", "api_key"),
    ("dydxpassphrase", "password"), ("ftxkey", "api_key"), ("ftxsign", "signature"), ("xsignature", "signature"), ("derihmacsha256", "signature"),
    ("apcaapikeyid", "api_key"), ("apcaapisecretkey", "api_key"),
];

/// Names in the form in which they are compared, lower case and plain letters, with their labels.
static WORLD_FOLDED: LazyLock<Vec<(String, Class)>> =
    LazyLock::new(|| WORLD.iter().map(|(name, label)| (plain(name), strong(label))).collect());
static LATIN_JOINED: LazyLock<Vec<(String, Class)>> = LazyLock::new(|| {
    let joined = |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect();
    LATIN.iter().map(|(name, label)| (joined(name), strong(label))).collect()
});

fn plain(name: &str) -> String {
    fold::name(&name.to_lowercase()).into_owned()
}

/// The spellings of Latin names to search a text for.
pub(super) fn latin_hints() -> Vec<String> {
    let spellings = |(name, _): &(&str, &str)| match name.contains(' ') {
        true => vec![
            (*name).to_owned(),
            name.replace(' ', "_"),
            name.replace(' ', "-"),
            name.replace([' ', '\''], ""),
        ],
        false => vec![(*name).to_owned()],
    };
    let mut hints: Vec<String> = LATIN.iter().flat_map(spellings).collect();
    hints.sort_unstable();
    hints.dedup();
    hints
}

/// The spellings of names in other scripts to search a text for, as they are and in plain letters.
pub(super) fn other_script_hints() -> Vec<String> {
    let mut hints = Vec::new();
    for (name, _) in WORLD {
        let mut letters = name.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        for spelling in [(*name).to_owned(), first.chain(letters).collect(), name.to_uppercase()] {
            hints.push(fold::name(&spelling).into_owned());
            hints.push(spelling);
        }
    }
    hints.sort_unstable();
    hints.dedup();
    // A spelling that is now ASCII would be searched for in every text.
    hints.retain(|hint| !hint.is_ascii());
    hints
}

/// The class of a name in another language. `words` are the name's words, in lower case and in plain letters;
/// `joined` is all of them joined.
pub(super) fn foreign(name: &str, words: &[String], joined: &str) -> Option<Class> {
    if !name.is_ascii() {
        let name = plain(name);
        let name = name.trim();
        if let Some((_, class)) = WORLD_FOLDED.iter().find(|(word, _)| name.ends_with(word.as_str())) {
            return Some(*class);
        }
    }
    // The name must end with the entry, and the entry must begin at a word of the name.
    let begins_a_word = |entry: &str| {
        let mut rest = entry.len();
        words.iter().rev().any(|word| {
            rest = rest.wrapping_sub(word.len());
            rest == 0
        })
    };
    LATIN_JOINED
        .iter()
        .find(|(entry, _)| joined.ends_with(entry.as_str()) && begins_a_word(entry))
        .map(|(_, class)| *class)
}

/// The class of an exchange's header field; `joined` is the name's words, joined without separators.
pub(super) fn header(name: &str, joined: &str) -> Option<Class> {
    // Gate's fields are common words in capitals; other things of that name do not hold a long hexadecimal
    // number.
    match name {
        "KEY" => return Some(weak("key")),
        "SIGN" => return Some(weak("signature")),
        _ => {}
    }
    HEADERS.iter().find(|(field, _)| *field == joined).map(|(_, label)| strong(label))
}
