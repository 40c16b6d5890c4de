// Numbers sort as numbers.
const { load, verdict } = require("./harness.js");

load("table.js").then(({ sortRows }) => {
  const seen = sortRows([{ n: 10 }, { n: 9 }], "n").map((row) => row.n);
  verdict(seen[0] !== 9, seen);
});
