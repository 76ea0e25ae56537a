//! The messages between the lab and a worker, and nothing else: no process, no pipe, no clock.
//!
//! One JSON object a line in each direction, UTF-8, ended by a line feed. The lab sends a
//! [`Request`] with an id; the worker answers with [`Reply`]s that carry the same id, the last of
//! which is [final](Answer::is_final). docs/PROTOCOL.md is the reference for other languages; a
//! test holds its examples against these types.

mod reply;
mod request;

pub use reply::{
    Answer, Block, Build, Check, CheckOutcome, ClockReport, CodePath, CodePathEvidence, GateReport,
    Hello, LibraryInfo, Measured, Noise, ProbeReading, Reply, SubjectInfo,
};
pub use request::{Ask, Clock, GateRequest, HelloRequest, KeyForm, MeasureRequest, Mode, Request};

/// The protocol's version. A worker that speaks another one is refused: messages of one version
/// are only ever extended by fields that the other side may ignore.
pub const VERSION: u32 = 1;

/// The longest line either side accepts, in bytes: a block of the largest sample count is under
/// 1 MiB, so a longer line is a worker out of control.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// A line that is not a message of this protocol.
#[derive(Debug, thiserror::Error)]
#[error("not a protocol message ({source}): {}", quoted(.line))]
pub struct Malformed {
    line: String,
    source: serde_json::Error,
}

/// How much of an offending line is quoted, in characters.
const QUOTE_CHARACTERS: usize = 120;

/// The beginning of a foreign line, escaped so that it cannot disturb a terminal or a file.
pub fn quoted(line: &str) -> String {
    let head: String = line.chars().take(QUOTE_CHARACTERS).collect();
    let ellipsis = if head.len() < line.len() { "…" } else { "" };
    format!("\"{}{ellipsis}\"", head.escape_debug())
}

/// The longest sentence of a worker that is kept, in characters.
const SENTENCE_CHARACTERS: usize = 1_000;

/// A worker's own sentence, with everything escaped that could disturb a terminal or a file.
pub fn harmless(sentence: &str) -> String {
    let mut kept = String::new();
    for character in sentence.chars().take(SENTENCE_CHARACTERS) {
        match character {
            '"' | '\'' | '\\' => kept.push(character),
            other => kept.extend(other.escape_debug()),
        }
    }
    kept
}

/// Reads one line as a message.
pub fn decode<T: serde::de::DeserializeOwned>(line: &str) -> Result<T, Malformed> {
    serde_json::from_str(line).map_err(|source| Malformed { line: line.to_owned(), source })
}

/// Writes a message as one line, with its line feed.
pub fn encode<T: serde::Serialize>(message: &T) -> String {
    let mut line = serde_json::to_string(message).expect("messages have string keys only");
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_line_is_quoted_harmlessly() {
        let error = decode::<Reply>("\u{1b}[31mboom").unwrap_err().to_string();
        assert!(error.contains("\\u{1b}[31mboom") && !error.contains('\u{1b}'), "{error}");
        let long = "x".repeat(10_000);
        assert!(decode::<Reply>(&long).unwrap_err().to_string().len() < 300);
    }

    #[test]
    fn a_sentence_is_kept_as_it_is_but_for_what_could_do_harm() {
        assert_eq!(harmless("it's \"µ\" \\ ok"), "it's \"µ\" \\ ok");
        assert_eq!(harmless("\u{1b}[2J\n\u{202e}"), r"\u{1b}[2J\n\u{202e}");
        assert!(harmless(&"\0".repeat(1 << 20)).len() < 5_000);
    }

    #[test]
    fn an_unknown_field_is_ignored_and_an_unknown_message_is_refused() {
        let line = r#"{"id":1,"ask":"gate","subject":"a/b","seed":2,"from-the-future":true}"#;
        assert!(decode::<Request>(line).is_ok());
        assert!(decode::<Request>(r#"{"id":1,"ask":"dance"}"#).is_err());
    }

    #[test]
    fn a_message_is_one_line() {
        let reply = Reply { id: 1, answer: Answer::Refused { reason: "two\nlines".into() } };
        let line = encode(&reply);
        assert_eq!(line.matches('\n').count(), 1);
        assert_eq!(decode::<Reply>(line.trim_end()).unwrap(), reply);
    }
}
