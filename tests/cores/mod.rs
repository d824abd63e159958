//! Cores of every GPU generation, written by something that shares no layout with the importer.
//!
//! A [`plan::Plan`] has the contents: agents, queues, work-groups, waves, and the layout of the file. [`core::build`]
//! makes the file of it, and [`model::of`] the values that a reader has to find: both from the plan, the model never
//! from the file. The layouts come from the descriptions alone (AMD's note and save area, LLVM's "Core file format",
//! the corrections found by running AMD's library) and are checked against sample cores that AMD's library read
//! (tests/suite/written_cores/samples.rs). Words without meaning hold noise, so that a reader of the wrong words
//! fails.
//!
//! | file | what it knows |
//! |---|---|
//! | `gpu` | generations: bit fields of control words, families |
//! | `filler` | the value of every word that nothing else decides |
//! | `plan` | what a core holds, in words of a debugger |
//! | `words` | a wave's SGPRs, hardware registers and trap temporaries |
//! | `area` | the save area of an XCC: control stack and blocks of waves |
//! | `queue` | ring, `amd_queue_t`, scratch |
//! | `note` | the descriptor of the note |
//! | `elf` | program headers and files |
//! | `core` | all of it together |
//! | `model` | what a reader has to find |
//! | `matrix` | plans for every generation and odd case |
//! | `big` | a core of many gigabytes and waves, sparse |

pub(crate) mod area;
pub(crate) mod big;
pub(crate) mod core;
pub(crate) mod elf;
pub(crate) mod filler;
pub(crate) mod gpu;
pub(crate) mod matrix;
pub(crate) mod model;
pub(crate) mod note;
pub(crate) mod plan;
pub(crate) mod queue;
pub(crate) mod words;
