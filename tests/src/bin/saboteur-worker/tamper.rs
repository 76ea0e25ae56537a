//! Honest answers, changed on their way.

use pqlab_protocol::{Answer, Block, Hello, Reply};
use std::io::{Error, Result};

/// What is sent in place of `reply`.
pub fn with(name: &str, reply: Reply) -> Result<Vec<Reply>> {
    if name.contains("-at-") {
        return Ok(vec![reply]);
    }
    let Reply { id, answer } = reply;
    let answers = match (name, answer) {
        ("wrong-id", answer) => return Ok(vec![Reply { id: id + 1, answer }]),
        ("everything-twice", answer) => vec![answer.clone(), answer],
        (_, Answer::Hello(hello)) => vec![Answer::Hello(tampered_hello(name, hello)?)],
        ("no-blocks", Answer::Block(_)) => vec![],
        (_, Answer::Block(block)) => vec![Answer::Block(tampered_block(name, block))],
        ("miscounted-blocks", Answer::Measured(mut measured)) => {
            measured.blocks += 1;
            vec![Answer::Measured(measured)]
        }
        ("gate-of-another", Answer::Gate(mut gate)) => {
            gate.subject = "test/falcon-512".to_owned();
            vec![Answer::Gate(gate)]
        }
        ("gate-without-checks", Answer::Gate(mut gate)) => {
            gate.checks.clear();
            vec![Answer::Gate(gate)]
        }
        (_, answer) => vec![answer],
    };
    Ok(answers.into_iter().map(|answer| Reply { id, answer }).collect())
}

fn tampered_hello(name: &str, mut hello: Hello) -> Result<Hello> {
    let nothing_to_do = [
        "no-blocks",
        "miscounted-blocks",
        "gate-of-another",
        "gate-without-checks",
        "lie-about-time",
        "zero-time",
        "empty-block",
    ];
    match name {
        "old-protocol" => hello.protocol = 0,
        "stopped-clock" => hello.clock.ticks_per_second = 0.0,
        "other-clock" => hello.clock.ticks_per_second *= 2.0,
        "huge-overhead" => hello.clock.overhead_ticks = 1e12,
        "negative-overhead" => hello.clock.overhead_ticks = -1e6,
        "changing-version" => hello.library.version = std::process::id().to_string(),
        "rude-name" => hello.library.version = "1\u{1b}[2J".to_owned(),
        "unknown-set" => hello.subjects[0].parameter_set = "rot13\u{1b}[31m".to_owned(),
        "offers-twice" => hello.subjects.push(hello.subjects[0].clone()),
        _ if nothing_to_do.contains(&name) => {}
        other => return Err(Error::other(format!("'{other}' is no sabotage"))),
    }
    Ok(hello)
}

fn tampered_block(name: &str, mut block: Block) -> Block {
    match name {
        "lie-about-time" => block.ticks.iter_mut().for_each(|ticks| *ticks *= 1_000),
        "zero-time" => block.ticks.fill(0),
        "empty-block" => block.ticks.clear(),
        _ => {}
    }
    block
}
