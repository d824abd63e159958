// Checks JSON documents against JSON Schemas (2020-12) with ajv, for tests/suite/schemas.rs.
// Input: one line with an object of schemas by name, then one line `[NAME, DOCUMENT]` each. Output: one line with an array of errors each.
'use strict';
const readline = require('node:readline');
const Ajv = require('ajv/dist/2020');

// Formats (`uint64`) are those of schemars, and ajv has none of them.
const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
const validators = new Map();
let schemas;
readline.createInterface({ input: process.stdin }).on('line', (line) => {
  if (!schemas) {
    schemas = JSON.parse(line);
    return;
  }
  const [name, document] = JSON.parse(line);
  if (!validators.has(name)) validators.set(name, ajv.compile(schemas[name]));
  const validate = validators.get(name);
  const errors = validate(document) ? [] : validate.errors;
  const text = ({ instancePath, message, params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`.slice(0, 400);
  process.stdout.write(`${JSON.stringify(errors.map(text))}\n`);
});
