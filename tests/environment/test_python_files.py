"""Which file is installed, and that none is younger than the snapshot."""

from datetime import timedelta

import pytest
from environment_snapshots import CUTOFF
from packaging import tags
from packaging.version import Version

from probe.environment.machine import read_machine, wheel_tags
from probe.environment.python_files import choose_files
from probe.environment.python_index import IndexFile
from probe.environment.python_locks import Pin
from probe.environment.python_resolve import platform_name
from probe.errors import ProbeError, SandboxError

DAY = timedelta(days=1)
WHEEL = "a-1.0-py3-none-any.whl"
NATIVE = "a-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"


def listed(*files):
    """Files of ``a 1.0``; a hash is the position."""
    return {
        "a": [
            IndexFile("a", Version("1.0"), name, "u", f"{place:064x}", when)
            for place, (name, when) in enumerate(files)
        ]
    }


def choose(machine, files, late=None, hashes=5):
    pin = Pin("a", "1.0", frozenset(f"{place:064x}" for place in range(hashes)))
    return choose_files([pin], listed(*files), wheel_tags(machine), CUTOFF, late or {})[
        0
    ].file.filename


def test_the_wheel_that_fits_best(machine):
    foreign = ("a-1.0-cp312-cp312-manylinux_2_17_x86_64.whl", CUTOFF)
    arm = ("a-1.0-cp311-cp311-manylinux_2_17_aarch64.whl", CUTOFF)
    newer = ("a-1.0-cp311-cp311-manylinux_2_99_x86_64.whl", CUTOFF)
    files = [("a-1.0.tar.gz", CUTOFF), foreign, arm, newer, (WHEEL, CUTOFF), (NATIVE, CUTOFF)]
    assert choose(machine, files, hashes=6) == NATIVE
    assert choose(machine, files, hashes=5) == WHEEL
    assert choose(machine, files, hashes=4) == "a-1.0.tar.gz"


def test_a_file_added_to_an_old_release_later_is_not_taken(machine):
    assert choose(machine, [(NATIVE, CUTOFF + DAY), (WHEEL, CUTOFF - DAY)]) == WHEEL


@pytest.mark.parametrize(
    ("when", "said"), [(CUTOFF + DAY, "uploaded 2025-01-01"), (None, "unknown time")]
)
def test_an_offender_is_named_unless_a_person_accepted_it(machine, when, said):
    with pytest.raises(ProbeError, match=rf"a==1\.0 \({'' if when else 'uploaded at an '}{said}"):
        choose(machine, [(WHEEL, when)])
    assert choose(machine, [(WHEEL, when)], {"a==1.0": "only its data are newer"}) == WHEEL


def test_a_file_uploaded_at_the_very_cutoff_is_old_enough(machine):
    assert choose(machine, [(WHEEL, CUTOFF)]) == WHEEL


def test_other_bytes_than_the_lock_names_are_refused(machine):
    with pytest.raises(ProbeError, match=r"a==1\.0: the index has other files of it than the lock"):
        choose(machine, [(WHEEL, CUTOFF)], hashes=0)


def test_no_file_for_the_machine_is_said(machine):
    with pytest.raises(ProbeError, match="no file for this machine and interpreter"):
        choose(machine, [("a-1.0-cp312-cp312-win_amd64.whl", CUTOFF)])


def test_tags_are_those_of_the_interpreter_itself():
    """Asked about this very interpreter, the answer is the one that pip would give."""
    import platform
    import sys

    libc = platform.libc_ver()[1]
    said = f"Linux {platform.machine()}\npython {' '.join(map(str, sys.version_info[:3]))}\nglibc {libc}\n"
    assert wheel_tags(read_machine(said)) == list(tags.sys_tags())


def test_a_machine_that_makes_no_sense_is_refused():
    with pytest.raises(SandboxError, match="is it a Linux"):
        read_machine("Darwin\n")
    assert read_machine("Linux x86_64\npython\nmusl /lib/ld\n").python is None


def test_uv_knows_the_platform(machine):
    assert platform_name(machine) == "x86_64-manylinux_2_36"
