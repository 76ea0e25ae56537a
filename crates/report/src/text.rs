//! Columns of text: aligned by display width, cut to fit, coloured or not.

use anstyle::{AnsiColor, Style};
use pqlab_protocol::harmless;
use unicode_width::UnicodeWidthStr;

/// What a piece of text means; the theme gives it a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Ordinary text.
    Plain,
    /// A heading.
    Heading,
    /// The best of its group.
    Best,
    /// A remark, less important than figures.
    Dim,
    /// Good news.
    Good,
    /// Something to know.
    Warning,
    /// Something wrong.
    Bad,
}

impl Role {
    fn style(self) -> Style {
        match self {
            Role::Plain => Style::new(),
            Role::Heading => Style::new().bold(),
            Role::Best | Role::Good => AnsiColor::Green.on_default(),
            Role::Dim => Style::new().dimmed(),
            Role::Warning => AnsiColor::Yellow.on_default(),
            Role::Bad => AnsiColor::Red.on_default(),
        }
    }

    /// `text` in this role's style. The stream it is written to removes the codes where colours
    /// are not wanted.
    pub fn paint(self, text: &str) -> String {
        if self == Role::Plain {
            return text.to_owned();
        }
        let style = self.style();
        format!("{style}{text}{style:#}")
    }
}

/// Columns a text takes on a terminal.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// `text` in exactly `columns` columns, flush left; too long a text ends in an ellipsis. Control
/// characters are escaped: a run file may come from anywhere.
pub fn left(text: &str, columns: usize) -> String {
    let text = cut(&harmless(text), columns);
    let padding = columns.saturating_sub(width(&text));
    text + &" ".repeat(padding)
}

/// `text` in at least `columns` columns, flush right; figures are never cut.
pub fn right(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width(text))) + text
}

fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for character in text.chars() {
        if width(&kept) + width(character.encode_utf8(&mut [0; 4])) + 1 > columns {
            break;
        }
        kept.push(character);
    }
    kept + "…"
}

/// `text` broken into lines of at most `columns` columns at spaces, each after `indent`; a word that
/// is longer than a line is broken where the line ends. Control characters are escaped.
pub fn wrapped(text: &str, columns: usize, indent: &str) -> String {
    let mut lines = Vec::new();
    let mut line = String::new();
    let longest = columns.saturating_sub(width(indent)).max(1);
    for word in text.split_whitespace().flat_map(|word| broken(&harmless(word), longest)) {
        if !line.is_empty() && width(indent) + width(&line) + 1 + width(&word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// `word` in pieces of at most `columns` columns.
fn broken(word: &str, columns: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for character in word.chars() {
        let piece = pieces.last_mut().expect("never empty");
        if width(piece) + width(character.encode_utf8(&mut [0; 4])) > columns {
            pieces.push(character.to_string());
        } else {
            piece.push(character);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_aligned_by_what_the_eye_sees() {
        assert_eq!(left("µs", 4), "µs  ");
        assert_eq!(right("µs", 4), "  µs");
        assert_eq!(left("rustcrypto:portable", 10), "rustcrypt…");
        assert_eq!(right("123456", 4), "123456");
    }

    #[test]
    fn nothing_in_a_text_can_disturb_the_terminal_or_leave_its_columns() {
        assert_eq!(left("\u{1b}[2J", 12), r"\u{1b}[2J   ");
        assert_eq!(wrapped("\u{7}!", 9, ""), "\\u{7}!\n");
        assert_eq!(wrapped("so xxxxxxxxxxxx", 7, " "), " so\n xxxxxx\n xxxxxx\n");
    }

    #[test]
    fn long_remarks_wrap_at_spaces() {
        assert_eq!(wrapped("one two three", 9, "  "), "  one two\n  three\n");
    }
}
