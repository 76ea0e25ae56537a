//! Between the lab and an honest copy of this program: requests go through, replies come back, and
//! at one moment the deed is done.

use crate::{HONESTLY, strike, tamper};
use pqlab_protocol::{Ask, Reply, Request, decode, encode};
use std::io::{BufRead, BufReader, Error, Result, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The lab's question at which something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Asked who it is.
    Hello,
    /// Asked for its gate.
    Gate,
    /// Asked to measure.
    Measure,
}

impl Moment {
    fn of(ask: &Ask) -> Moment {
        match ask {
            Ask::Hello(_) => Moment::Hello,
            Ask::Gate(_) => Moment::Gate,
            Ask::Measure(_) => Moment::Measure,
        }
    }
}

/// `hang-at-gate` as the deed `hang` and its moment.
fn struck(name: &str) -> Option<(&str, Moment)> {
    let (deed, moment) = name.split_once("-at-")?;
    let moment = match moment {
        "hello" => Moment::Hello,
        "gate" => Moment::Gate,
        "measure" => Moment::Measure,
        _ => return None,
    };
    Some((deed, moment))
}

/// Serves the lab until it hangs up, or the deed ends it.
pub fn run(name: &str) -> Result<()> {
    let myself = std::env::args_os().next().unwrap_or_default();
    let mut honest = Command::new(std::env::current_exe()?)
        .arg0(&myself)
        .arg(HONESTLY)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut questions = honest.stdin.take().expect("piped");
    let mut answers = BufReader::new(honest.stdout.take().expect("piped")).lines();
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let request: Request = decode(&line).map_err(Error::other)?;
        let moment = Moment::of(&request.ask);
        if let Some((deed, when)) = struck(name)
            && when == moment
        {
            strike::now(deed, request.id, &mut output)?;
        }
        questions.write_all(format!("{line}\n").as_bytes())?;
        loop {
            let answer = answers.next().ok_or_else(|| Error::other("the honest copy ended"))??;
            let reply: Reply = decode(&answer).map_err(Error::other)?;
            let last = reply.answer.is_final();
            for reply in tamper::with(name, reply)? {
                output.write_all(encode(&reply).as_bytes())?;
                output.flush()?;
            }
            if last {
                break;
            }
        }
    }
    Ok(())
}
