"""``mmp doctor``."""

import json

import mmpcodec
from mmpcodec import backends


def test_says_what_is_there(mmp):
    done = mmp("doctor")
    assert done.exit_code == 0
    assert done.stdout.startswith(f"mmpcodec {mmpcodec.__version__}, Python 3.")
    for name, reason in backends.status().items():
        line = next(line for line in done.stdout.splitlines() if line.startswith(f"backend {name}"))
        assert ("yes" in line) == (reason is None)
        assert reason is None or reason in line


def test_says_which_backend_searches_in_its_own_way(mmp):
    lines = [line for line in mmp("doctor").stdout.splitlines() if line.startswith("backend ")]
    own = [line for line in lines if "a search of its own" in line]
    assert own[0].startswith(("backend cuda ", "backend reference "))
    assert all(line.endswith("; a search of its own for predicted blocks") for line in own)
    facts = json.loads(mmp("doctor", "--json").stdout)["backends"]
    assert facts["reference"]["own_search"] == "predicted blocks"
    assert facts["cpu"]["own_search"] is None


def test_json_has_the_same_facts(mmp):
    facts = json.loads(mmp("doctor", "--json").stdout)
    assert facts["mmpcodec"] == mmpcodec.__version__
    for name, reason in backends.status().items():
        assert facts["backends"][name]["available"] == (reason is None)
    assert (facts["device"] is None) == (not facts["backends"]["cuda"]["available"])


def test_warming_needs_a_device(mmp):
    done = mmp("doctor", "--warm")
    if backends.status()["cuda"] is None:
        assert done.exit_code == 0
        assert "kernels ready after" in done.stdout
    else:
        assert done.exit_code == 4
        assert "backend cuda cannot run here" in done.stderr
