// A line without an amount.
const { load, verdict } = require("./harness.js");

load("scale.js").then(({ scaleLine }) => {
  const seen = scaleLine("salt", 2);
  verdict(seen !== "salt", seen);
});
