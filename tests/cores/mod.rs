//! Writer of cores of every GPU generation. It shares no layout with the importer.
//!
//! A [`plan::Plan`] has the contents: agents, queues, work-groups, waves, and the layout of the file. [`core::build`]
//! makes the file and [`model::of`] the expected values. Both use the plan; the model never uses the file. The layouts
//! come from descriptions alone: AMD's note and save area, LLVM's "Core file format", and corrections found by running
//! AMD's library. They are checked against sample cores that AMD's library read (tests/suite/written_cores/samples.rs).
//! Meaningless words hold noise, so that a reader of the wrong words fails.
//!
//! | file | contents |
//! |---|---|
//! | `gpu` | generations: bit fields of control words, families |
//! | `filler` | values of words without another definition |
//! | `plan` | contents of a core, in terms of a debugger |
//! | `words` | a wave's SGPRs, hardware registers and trap temporaries |
//! | `area` | the save area of an XCC: control stack and blocks of waves |
//! | `queue` | ring, `amd_queue_t`, scratch |
//! | `note` | the descriptor of the note |
//! | `elf` | program headers and files |
//! | `core` | the whole core |
//! | `model` | values that a reader must find |
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
