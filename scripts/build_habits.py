"""Learn how a project words its commits, from those before the snapshot."""

from probe.code.paths import SourceScope
from probe.git.ancestry import first_parent_ancestor
from probe.git.log import iter_window
from probe.job import job
from probe.paths import mirror_beside
from probe.records import History, read_json, write_json
from probe.reference.habits import Habits

with job(snakemake.log[0]):
    history = read_json(snakemake.input.history, History)
    mirror = mirror_beside(snakemake.input.history)
    start = first_parent_ancestor(mirror, history.t0, snakemake.params.commits)
    earlier = iter_window(mirror, start, history.t0) if start != history.t0 else iter(())
    habits = Habits.learn(earlier, SourceScope(**snakemake.params.scope))
    write_json(snakemake.output.habits, habits)
