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
    let kind = match given.kind.as_str() {
        "tsc" => ClockKind::Tsc,
        "cntvct" => ClockKind::Cntvct,
        "monotonic" => ClockKind::Monotonic,
        other => return Err(Failure(format!("there is no clock '{other}'"))),
    };
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
    let kind = match calibration.kind {
        ClockKind::Tsc => "tsc",
        ClockKind::Cntvct => "cntvct",
        ClockKind::Monotonic => "monotonic",
    };
    ClockReport {
        kind: kind.to_owned(),
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
