// A choice that was never made.
const { load, verdict } = require("./harness.js");

load("store.js").then(({ Store }) => {
  const store = new Store({ getItem: () => null, setItem: () => {}, removeItem: () => {} });
  const seen = store.get("servings", 4);
  verdict(seen !== 4, String(seen));
});
