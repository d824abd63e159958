//! lanescope
