//! Figures as people read them: units chosen to fit, digits that mean something.

/// Nanoseconds in the unit that leaves one to three digits before the point.
pub fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A rate per second, whole above 100, with thin groups of three.
pub fn rate(per_second: f64) -> String {
    if per_second < 100.0 {
        return three_digits(per_second);
    }
    grouped(per_second.round() as u64)
}

/// A whole number in groups of three, separated by a space (SI style).
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A share as a percentage.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value >= 99.95 { format!("{value:.0} %") } else { format!("{} %", two_digits(value)) }
}

/// A ratio, such as `3.21×`.
pub fn ratio(value: f64) -> String {
    format!("{}×", three_digits(value))
}

/// Bytes in the unit that fits.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        b if b < 1 << 20 => format!("{} KiB", three_digits(b as f64 / 1024.0)),
        b if b < 1 << 30 => format!("{} MiB", three_digits(b as f64 / f64::from(1 << 20))),
        b => format!("{} GiB", three_digits(b as f64 / f64::from(1 << 30))),
    }
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v < 9.995 => format!("{value:.2}"),
        v if v < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn two_digits(value: f64) -> String {
    match value.abs() {
        v if v < 0.995 => format!("{value:.2}"),
        v if v < 9.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_rates_and_shares_read_naturally() {
        assert_eq!(time(7.0), "7.00 ns");
        assert_eq!(time(33_970.0), "34.0 µs");
        assert_eq!(time(999_999.0), "1000 µs");
        assert_eq!(time(6_100_000.0), "6.10 ms");
        assert_eq!(time(2.5e9), "2.50 s");
        assert_eq!(rate(29_434.4), "29 434");
        assert_eq!(rate(1_234_567.0), "1 234 567");
        assert_eq!(rate(3.456), "3.46");
        assert_eq!(percent(0.0031), "0.31 %");
        assert_eq!(percent(0.035), "3.5 %");
        assert_eq!(percent(1.5), "150 %");
        assert_eq!(ratio(1.0), "1.00×");
        assert_eq!(bytes(13_000_000), "12.4 MiB");
    }
}
