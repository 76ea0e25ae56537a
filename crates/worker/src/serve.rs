//! The conversation with the lab: one request a line in, replies out, until the lab hangs up.

use crate::library::{CodePath, Randomness};
use crate::measure::{self, Surroundings};
use crate::session::Session;
use crate::{Failure, Library, Outcome, Subject, gate, job};
use pqlab_instrument::clock::{Calibration, Clock, ClockKind, Source, TickSource};
use pqlab_instrument::counters::Counters;
use pqlab_instrument::noise::NoiseReader;
use pqlab_instrument::probe::CYCLES_PER_STEP;
use pqlab_protocol::{
    Answer, Ask, Build, ClockReport, CodePathEvidence, Hello, HelloRequest, LibraryInfo,
    MAX_LINE_BYTES, MeasureRequest, Reply, Request, SubjectInfo, VERSION,
};
use std::collections::HashMap;
use std::io::{BufRead, Read, Write};

/// Answers requests until the input ends. An error is the lab hanging up in the middle of a reply.
pub(crate) fn run(
    library: &Library,
    subjects: &[Subject],
    input: impl BufRead,
    output: impl Write,
) -> std::io::Result<()> {
    let mut server = Server {
        library,
        subjects,
        sessions: HashMap::new(),
        clock: None,
        noise: NoiseReader::new(),
        counters: Counters::open().ok(),
        output,
    };
    let mut input = input;
    loop {
        let mut line = String::new();
        if input.by_ref().take(MAX_LINE_BYTES as u64).read_line(&mut line)? == 0 {
            return Ok(());
        }
        match pqlab_protocol::decode::<Request>(line.trim_end()) {
            Ok(request) => server.answer(request)?,
            Err(malformed) => {
                server.send(0, Answer::Refused { reason: malformed.to_string() })?;
            }
        }
    }
}

struct Server<'a, W: Write> {
    library: &'a Library,
    subjects: &'a [Subject],
    sessions: HashMap<String, Session<'a>>,
    clock: Option<(Source, ClockReport)>,
    noise: NoiseReader,
    counters: Option<Counters>,
    output: W,
}

impl<'a, W: Write> Server<'a, W> {
    fn answer(&mut self, request: Request) -> std::io::Result<()> {
        let id = request.id;
        let answer = match request.ask {
            Ask::Hello(hello) => self.hello(&hello),
            Ask::Gate(ask) => session(&mut self.sessions, self.subjects, &ask.subject)
                .map(|session| Answer::Gate(gate::run(session, ask.seed))),
            Ask::Measure(ask) => self.measure(id, &ask),
        };
        let answer = answer.unwrap_or_else(|failure| Answer::Refused { reason: failure.0 });
        self.send(id, answer)
    }

    fn send(&mut self, id: u64, answer: Answer) -> std::io::Result<()> {
        self.output.write_all(pqlab_protocol::encode(&Reply { id, answer }).as_bytes())?;
        self.output.flush()
    }

    fn hello(&mut self, request: &HelloRequest) -> Outcome<Answer> {
        if request.protocol != VERSION {
            return Err(Failure(format!(
                "this worker speaks protocol {VERSION}, the lab speaks {}: build both from the \
                 same revision",
                request.protocol
            )));
        }
        let clock = match &request.clock {
            None => Clock::calibrate(),
            Some(given) => Clock::from_calibration(&calibration_from(given)?)
                .map_err(|unavailable| Failure(unavailable.to_string()))?,
        };
        let report = clock_report(&clock);
        self.clock = Some((clock.source(), report.clone()));
        Ok(Answer::Hello(Hello {
            protocol: VERSION,
            library: LibraryInfo {
                name: self.library.name.to_owned(),
                version: self.library.version.clone(),
                package: self.library.package.to_owned(),
                licence: self.library.licence.to_owned(),
                cpu_features_seen: self.library.cpu_features_seen.clone(),
            },
            build: build(),
            subjects: self.subjects.iter().map(describe).collect(),
            clock: report,
        }))
    }

    fn measure(&mut self, id: u64, request: &MeasureRequest) -> Outcome<Answer> {
        let (source, report) =
            self.clock.clone().ok_or_else(|| Failure("measure before hello".to_owned()))?;
        let session = session(&mut self.sessions, self.subjects, &request.subject)?;
        if !session.gate.as_ref().is_some_and(|gate| gate.passed()) {
            let subject = &request.subject;
            return Err(Failure(format!("'{subject}' has not passed its gate in this process")));
        }
        let varies = session.subject.parameter_set.is_variable_time(request.operation);
        let mut job = job::make(session, request)?;
        let output = &mut self.output;
        let mut emit = |block| {
            let reply = Reply { id, answer: Answer::Block(block) };
            output.write_all(pqlab_protocol::encode(&reply).as_bytes())?;
            output.flush()?;
            Ok(())
        };
        let (noise, counters) = (&self.noise, self.counters.as_mut());
        let measured = match source {
            Source::Tsc(ticks) => measure::run(
                &mut Surroundings { ticks, clock: &report, noise, counters },
                job.as_mut(),
                request,
                varies,
                &mut emit,
            ),
            Source::Cntvct(ticks) => measure::run(
                &mut Surroundings { ticks, clock: &report, noise, counters },
                job.as_mut(),
                request,
                varies,
                &mut emit,
            ),
            Source::Monotonic(ticks) => measure::run(
                &mut Surroundings { ticks, clock: &report, noise, counters },
                job.as_mut(),
                request,
                varies,
                &mut emit,
            ),
        }?;
        Ok(Answer::Measured(measured))
    }
}

/// The session of a subject, opened when it is first asked for.
fn session<'s, 'a>(
    sessions: &'s mut HashMap<String, Session<'a>>,
    subjects: &'a [Subject],
    id: &str,
) -> Outcome<&'s mut Session<'a>> {
    if !sessions.contains_key(id) {
        let subject = subjects
            .iter()
            .find(|subject| subject.id() == id)
            .ok_or_else(|| Failure(format!("this worker has no subject '{id}'")))?;
        sessions.insert(id.to_owned(), Session::open(subject)?);
    }
    Ok(sessions.get_mut(id).expect("just inserted"))
}

fn calibration_from(given: &pqlab_protocol::Clock) -> Outcome<Calibration> {
    let kind = ClockKind::ALL
        .into_iter()
        .find(|kind| kind.name() == given.kind)
        .ok_or_else(|| Failure(format!("there is no clock '{}'", given.kind)))?;
    Ok(Calibration {
        kind,
        ticks_per_second: given.ticks_per_second,
        method: "given by the lab".to_owned(),
        uncertainty_ppm: f64::NAN,
        precision_ticks: 0,
        overhead_ticks_median: 0,
        overhead_ticks_p999: 0,
    })
}

fn clock_report(clock: &Clock) -> ClockReport {
    fn overhead_in(source: Source) -> (f64, f64, f64) {
        fn of<T: TickSource>(ticks: T) -> (f64, f64, f64) {
            measure::overhead(ticks)
        }
        match source {
            Source::Tsc(ticks) => of(ticks),
            Source::Cntvct(ticks) => of(ticks),
            Source::Monotonic(ticks) => of(ticks),
        }
    }
    let calibration = clock.calibration();
    let (overhead, further, residual) = overhead_in(clock.source());
    ClockReport {
        kind: calibration.kind.name().to_owned(),
        ticks_per_second: calibration.ticks_per_second,
        overhead_ticks: overhead,
        overhead_ticks_per_further_call: further,
        empty_operation_ns: residual * 1e9 / calibration.ticks_per_second,
        probe_cycles_per_step: CYCLES_PER_STEP,
    }
}

fn describe(subject: &Subject) -> SubjectInfo {
    let (path, evidence) = match &subject.code_path {
        CodePath::Called(symbol) => (symbol.to_string(), CodePathEvidence::Called),
        CodePath::Reported(path) => (path.clone(), CodePathEvidence::Reported),
        CodePath::Undisclosed => (String::new(), CodePathEvidence::Undisclosed),
    };
    let randomness = match subject.randomness {
        Randomness::Given => "given",
        Randomness::Library => "library",
    };
    SubjectInfo {
        id: subject.id(),
        parameter_set: subject.parameter_set.id(),
        variant: subject.variant.to_owned(),
        code_path: pqlab_protocol::CodePath { path, evidence },
        randomness: randomness.to_owned(),
        secret_key_encoding: subject.secret_key_encoding.map(|(words, _)| words.to_owned()),
        // A subject that cannot be made is refused when its gate is asked for, and alone.
        prepares: (subject.make)().map_or(Vec::new(), |scheme| scheme.prepares().to_vec()),
    }
}

/// What the build script recorded about the compilers.
fn build() -> Build {
    let c_compiler = env!("PQLAB_C_COMPILER");
    Build {
        target: env!("PQLAB_TARGET").to_owned(),
        profile: env!("PQLAB_PROFILE").to_owned(),
        opt_level: env!("PQLAB_OPT_LEVEL").to_owned(),
        compiler: env!("PQLAB_RUSTC").to_owned(),
        c_compiler: (!c_compiler.is_empty()).then(|| c_compiler.to_owned()),
        flags: env!("PQLAB_FLAGS").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entropy, KeyExchange, KeyLengths, Scheme};

    /// Diffie-Hellman in the integers modulo 2^61 - 1: correct, tiny, and of no strength.
    struct Toy;

    const MODULUS: u128 = (1 << 61) - 1;

    fn power(base: u128, mut exponent: u64) -> u128 {
        let (mut result, mut square) = (1, base % MODULUS);
        while exponent > 0 {
            if exponent & 1 == 1 {
                result = result * square % MODULUS;
            }
            square = square * square % MODULUS;
            exponent >>= 1;
        }
        result
    }

    fn number(bytes: &[u8]) -> u128 {
        u128::from_le_bytes(bytes[..16].try_into().expect("32 bytes"))
    }

    impl KeyExchange for Toy {
        fn keygen(
            &mut self,
            entropy: &mut Entropy,
            public_key: &mut [u8],
            secret_key: &mut [u8],
        ) -> Outcome<KeyLengths> {
            secret_key[..8].copy_from_slice(&entropy.array::<8>());
            let exponent = number(secret_key) as u64;
            public_key[..16].copy_from_slice(&power(37, exponent).to_le_bytes());
            Ok(KeyLengths { public_key: 32, secret_key: 32 })
        }

        fn derive(&mut self, secret: &[u8], peer: &[u8], shared: &mut [u8]) -> Outcome<()> {
            let result = power(number(peer), number(secret) as u64);
            shared[..16].copy_from_slice(&result.to_le_bytes());
            Ok(())
        }
    }

    fn converse(requests: &[&str]) -> Vec<Reply> {
        let library = Library {
            name: "toy",
            version: "1".to_owned(),
            package: "none",
            licence: "MIT",
            cpu_features_seen: Vec::new(),
        };
        let whole = Subject::new("x25519", "toy", CodePath::Undisclosed, || {
            Ok(Scheme::KeyExchange(Box::new(Toy)))
        });
        let broken = Subject::new("x25519", "broken", CodePath::Undisclosed, || {
            Err(Failure("no such engine".to_owned()))
        });
        let mut output = Vec::new();
        run(&library, &[whole, broken], requests.join("\n").as_bytes(), &mut output).unwrap();
        let text = String::from_utf8(output).unwrap();
        text.lines().map(|line| pqlab_protocol::decode(line).unwrap()).collect()
    }

    const HELLO: &str = r#"{"id":1,"ask":"hello","protocol":1}"#;
    const GATE: &str = r#"{"id":2,"ask":"gate","subject":"toy/x25519","seed":1}"#;

    fn measure(id: u64, key_form: &str) -> String {
        format!(
            r#"{{"id":{id},"ask":"measure","subject":"toy/x25519","operation":"derive",
            "mode":{{"key_form":"{key_form}","message_bytes":0}},"seed":1,"blocks":1,
            "block_ns":1000,"warm_up_ns":1000,"max_ns":1000}}"#
        )
        .replace('\n', "")
    }

    #[test]
    fn nothing_is_timed_before_its_gate() {
        let replies = converse(&[HELLO, &measure(2, "encoded"), GATE, &measure(3, "encoded")]);
        assert!(
            matches!(&replies[1].answer, Answer::Refused { reason } if reason.contains("gate"))
        );
        assert!(matches!(&replies[2].answer, Answer::Gate(report) if report.passed()));
        assert!(matches!(replies[3].answer, Answer::Block(_)), "{:?}", replies[3]);
        assert!(matches!(replies[4].answer, Answer::Measured(_)));
    }

    #[test]
    fn a_refused_measurement_costs_the_subject_nothing() {
        let replies = converse(&[HELLO, GATE, &measure(3, "prepared"), &measure(4, "encoded")]);
        assert!(matches!(replies[2].answer, Answer::Refused { .. }));
        assert!(matches!(replies[3].answer, Answer::Block(_)), "{:?}", replies[3]);
    }

    #[test]
    fn a_subject_that_cannot_be_made_is_refused_alone() {
        let broken = GATE.replace("toy/", "broken/");
        let replies = converse(&[HELLO, &broken, GATE]);
        assert!(matches!(&replies[0].answer, Answer::Hello(hello) if hello.subjects.len() == 2));
        let refused = |reply: &Reply| matches!(&reply.answer, Answer::Refused { reason } if reason.contains("no such engine"));
        assert!(refused(&replies[1]), "{:?}", replies[1]);
        assert!(matches!(&replies[2].answer, Answer::Gate(report) if report.passed()));
    }
}
