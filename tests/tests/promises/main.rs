//! The promises, tested. One program, so that it links once; a module for each promise.

mod bad_input;
mod empty_operation;
mod interrupted;
mod json;
mod killed;
mod program;
mod run_file;
mod saboteurs;
mod screen;
mod workshop;
