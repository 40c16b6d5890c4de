// The same for the web scripts; see harness.py for the exit codes.
const path = require("node:path");
const { pathToFileURL } = require("node:url");

exports.load = (name) => import(pathToFileURL(path.resolve("web", name)));

exports.verdict = (broken, seen) => {
  console.log(`${broken ? "BUG" : "OK"}: ${JSON.stringify(seen)}`);
  process.exitCode = broken ? 1 : 0;
};
