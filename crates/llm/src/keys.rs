//! Finds a provider's key: in a variable, or in the file named by `VARIABLE_FILE`.

use secrecy::SecretString;

/// The result of searching for a key.
#[derive(Clone, Debug)]
pub enum ApiKey {
    /// No key is needed.
    NotNeeded,
    /// A key was found.
    Found {
        /// The variable.
        variable: String,
        /// The key.
        value: SecretString,
    },
    /// The key is missing; the sentence says what to do.
    Missing(String),
}

/// Looks up the key of the provider `name` in `variable`, or in the file named by `VARIABLE_FILE`.
pub fn find(name: &str, variable: Option<&str>, env: &dyn Fn(&str) -> Option<String>) -> ApiKey {
    let Some(variable) = variable else {
        return ApiKey::NotNeeded;
    };
    if let Some(value) = env(variable).and_then(clean) {
        return ApiKey::Found { variable: variable.to_owned(), value };
    }
    let by_file = format!("{variable}_FILE");
    let Some(path) = env(&by_file).filter(|path| !path.trim().is_empty()) else {
        return ApiKey::Missing(format!(
            "the key of the provider `{name}` is not set: put it into the environment variable \
             {variable}, or name a file that holds it in {by_file}"
        ));
    };
    // The path is not shown: someone may have put the key itself there.
    match std::fs::read_to_string(path.trim()).ok().and_then(clean) {
        Some(value) => ApiKey::Found { variable: variable.to_owned(), value },
        None => ApiKey::Missing(format!(
            "the key of the provider `{name}` is not set: the file that {by_file} names cannot be \
             read, or is empty"
        )),
    }
}

/// Keys are often pasted with line ends; a control character inside a key cannot be sent in a header.
fn clean(raw: String) -> Option<SecretString> {
    let key = raw.trim();
    (!key.is_empty() && key.chars().all(|c| c.is_ascii_graphic())).then(|| SecretString::from(key))
}
