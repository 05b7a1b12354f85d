"""Who may speak with a cluster of this machine."""

import json

import pytest

pytest.importorskip("distributed", reason="needs distributed, of the extra cluster")

STRANGER = """
import sys
from distributed import Client, Security
secure = Security.temporary() if sys.argv[1].startswith("tls") else None
client = Client(sys.argv[1], security=secure, timeout=2, set_as_default=False)
print(client.run_on_scheduler(lambda: "code of a stranger"))
"""
HOLD = """
import json, sys
from mmpcodec.cli.cluster.clients import connected
if __name__ == "__main__":
    with connected("local", 2) as client:
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        at = client.scheduler.address, workers, client.dashboard_link, client.run(lambda: 7)
        print(json.dumps(at), flush=True)
        sys.stdin.readline()
"""


@pytest.fixture
def local(folder, python):
    """Addresses of the scheduler and the workers of ``--cluster local``, and its process."""
    (folder / "hold.py").write_text(HOLD)
    program = python("hold.py")
    scheduler, workers, dashboard, answers = json.loads(program.stdout.readline())
    assert list(answers.values()) == [7, 7]
    yield scheduler, workers, dashboard, program
    program.communicate(b"\n", timeout=60)


def test_strangers_cannot_run_code(local, python):
    scheduler, workers, _, _ = local
    assert all(address.startswith("tls://127.0.0.1:") for address in (scheduler, *workers))
    strangers = [
        python("-c", STRANGER, f"{protocol}://{scheduler.partition('://')[2]}")
        for protocol in ("tcp", "tls")
    ]
    for stranger in strangers:
        output, _ = stranger.communicate(timeout=60)
        assert (stranger.returncode, output) == (1, b"")


def test_it_listens_to_this_machine_alone(local):
    import psutil

    *_, dashboard, program = local
    assert dashboard.startswith("http://127.0.0.1:")
    parent = psutil.Process(program.pid)
    listening = [
        connection.laddr.ip
        for process in (parent, *parent.children(recursive=True))
        for connection in process.net_connections()
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) > 3
    assert set(listening) == {"127.0.0.1"}
