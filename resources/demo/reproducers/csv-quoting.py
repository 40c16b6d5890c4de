"""An item with a comma in its name, as CSV."""

import csv

from harness import load, need, verdict

export = load("export")
need(export, "shopping_csv")
seen = list(csv.reader(export.shopping_csv([("beans, dried", None)]).splitlines()))
verdict(seen[1] != ["beans, dried", "", ""], seen)
