mod fixtures;
mod house;
