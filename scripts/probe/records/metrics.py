"""The row of a cell: one run on one repository (``{run}.metrics.csv``)."""

from probe.records.base import Record


class CellMetrics(Record):
    """Counts, rates and costs of a cell; None prints as an empty field, never as 0."""

    repo: str
    """Key of the repository."""
    run: str
    """Key of the run."""
    kind: str
    """Kind of finder: analyzer, sarif …"""
    model: str | None
    """Model, or the analyser with its version."""
    effort: str | None
    """Reasoning effort; None for finders without one."""
    bugs: int
    """Reference bugs of the repository."""
    findings: int
    """Findings of the run, rejected ones left out."""
    matched_bugs: int
    """Reference bugs matched at least once."""
    matched_findings: int
    """Findings matched at least once."""
    recall: float | None
    """matched_bugs / bugs; None without bugs, or when a pass failed and nothing was found."""
    recall_low: float | None
    """Lower Wilson bound, 95 %."""
    recall_high: float | None
    """Upper Wilson bound, 95 %, unjudged pairs taken as matches."""
    precision: float | None
    """matched_findings / findings; None without findings: silence is never precision 1."""
    precision_low: float | None
    """Lower Wilson bound, 95 %."""
    precision_high: float | None
    """Upper Wilson bound, 95 %, unjudged pairs taken as matches."""
    f1: float | None
    """Harmonic mean; 0 where both are 0, None where either is None."""
    f1_low: float | None
    """F1 of both lower bounds: conservative, since F1 rises in both."""
    f1_high: float | None
    """F1 of both upper bounds."""
    cost_usd: float | None
    """Sum over passes; None when unknown."""
    input_tokens: int | None
    """All prompt tokens: fresh, cache reads and cache writes; None where there is no model."""
    output_tokens: int | None
    """Output tokens with reasoning; None where there is no model."""
    wall_s: float
    """Sum of the passes' seconds."""
    passes: int
    """Passes of the run."""
    passes_failed: int
    """Passes whose status is not ok; their files were not searched."""
    rejected_findings: int
    """Reported items that could not be placed in the snapshot."""
    reference_version: str
    """Version of the reference set that the cell was scored against; ``+n`` after n errata."""
    reference_sha256: str
    """SHA-256 of the reference set's ``bugs.jsonl``."""
    config_sha256: str
    """Hash of the cell's resolved configuration."""
    probe_version: str
    """Version that computed the row."""
    suppressed_findings: int
    """Results that their author had marked as suppressed: left out."""
    unjudged_pairs: int
    """Pairs without a verdict: neither yes nor no. The upper bounds of the rates count them as
    matches, the lower bounds and the rates themselves do not."""
    unjudged_reference: int
    """Commits and candidates without a verdict: the reference set may lack what they hold."""
    files_audited: int
    """Audited files of the snapshot."""
    files_read: int | None
    """Files that the finder says it read; None where it does not say."""
    files_skipped: int
    """Audited files that it could not read."""
    files_timed_out: int
    """Audited files on which it ran out of time."""
    environment: str | None = None
    """Where sessions worked: ``built`` or ``sources_only``, joined by ``+`` where passes differ; None
    for runs without sessions."""
    sandbox: str | None = None
    """Engine of the sandboxes, joined likewise; None for runs without one."""
    leaked_passes: int | None = None
    """Passes whose transcript shows something of the time after T0; None for runs without sessions."""
    leak_hits: int | None = None
    """Different things of that kind, over all passes."""
    leak_suspects: int | None = None
    """Hits that the model can also owe to its memory, its skill or chance: no leaks by themselves."""
    leak_attempts: int | None = None
    """Commands and tools that asked for history, a network or the web, by pass and program."""


class Agreement(Record):
    """How well a stage of the reference set agrees with a labelled truth."""

    repo: str
    """Key of the repository."""
    stage: str
    """``classify``, ``presence`` or ``bugs``."""
    true_positives: int
    """Said and true."""
    false_positives: int
    """Said but not true."""
    false_negatives: int
    """True but not said."""
    unjudged: int
    """Without a verdict: in none of the other counts."""
    precision: float | None
    """true_positives / (true_positives + false_positives); None without any."""
    recall: float | None
    """true_positives / (true_positives + false_negatives); None without any."""
    f1: float | None
    """Harmonic mean, as in a cell."""
    wrong: str
    """Short commit ids or bug ids of what went wrong, ``+`` for said but not true, ``-`` for missed."""
