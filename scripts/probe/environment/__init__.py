"""Where the snapshot's code runs: its dependencies as of T0, installed without a network."""
