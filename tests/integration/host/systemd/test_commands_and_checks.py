"""Commands and checks on a machine with real systemd (design, parts 8 and 11)."""

from pathlib import Path

from tests.integration.host.systemd.node import Node, done, service, unit, why
from tests.integration.lab.watch import eventually, processes_of, told


def command(name: str, **attributes: object) -> dict[str, object]:
    return {"kind": "command", "name": name, **attributes}


def test_a_command_is_applied_once_and_taken_off(node: Node) -> None:
    made = command(
        "user",
        check="getent passwd lab-user",
        apply="useradd --no-create-home lab-user && echo ran >>/run/user-made",
        remove="userdel lab-user",
    )
    said = node.told(made)
    assert done(said) == {"command:user": ("make", "done")}
    assert said["owned"] == {"command:user": {"done": False}}
    assert node.told(made)["changed"] is False
    assert node.machine.read("/run/user-made") == b"ran\n"
    assert done(node.told()) == {"command:user": ("restore", "done")}
    assert node.machine.run(["getent", "passwd", "lab-user"], check=False).returncode == 2


def test_what_was_done_before_the_mesh_stays(node: Node) -> None:
    node.machine.run(["touch", "/srv/theirs"])
    theirs = command(
        "theirs", check="test -e /srv/theirs", apply="touch /srv/theirs", remove="rm /srv/theirs"
    )
    assert done(node.told(theirs)) == {"command:theirs": ("adopt", "done")}
    assert done(node.told()) == {"command:theirs": ("release", "done")}
    assert node.machine.exists("/srv/theirs")


def test_without_remove_what_it_did_stays_and_is_reported(node: Node) -> None:
    ours = command("ours", check="test -e /srv/ours", apply="touch /srv/ours")
    node.told(ours)
    said = node.told()
    assert done(said) == {"command:ours": ("restore", "left")}
    assert why(said, "command:ours") == "command ours has no 'remove', so what it did stays"
    assert said["owned"] == {}
    assert node.machine.exists("/srv/ours")


def test_one_that_hangs_in_sessions_of_its_own_is_wholly_ended(node: Node) -> None:
    hang = "setsid sh -c 'setsid sleep 7654321 & sleep 7654322' & (setsid sleep 7654323 &); sleep 7654324"
    said = node.told(command("hang", check="false", apply=f"echo begun; {hang}", seconds=1))
    assert why(said, "command:hang") == "apply: it took longer than 1 s and was ended: begun"
    eventually(
        lambda: not any("765432" in told(process) for process in processes_of(node.machine.cgroup)),
    )
    assert done(node.told()) == {"command:hang": ("release", "done")}


def test_checks_of_every_kind_say_what_is_so(node: Node, tmp_path: Path) -> None:
    serve = "/usr/bin/python3 -m http.server --bind 127.0.0.1 --directory /etc/systemd 8086"
    web = unit("web", f"[Service]\nExecStart={serve}\n[Install]\nWantedBy=multi-user.target\n")
    checks: list[dict[str, object]] = [
        {"kind": "tcp", "port": 8086},
        {"kind": "http", "url": "http://127.0.0.1:8086/system.conf", "contains": "[Manager]"},
        {"kind": "command", "run": "systemctl is-active --quiet web"},
        {"kind": "service", "name": "web"},
    ]
    bad: list[dict[str, object]] = [
        {"kind": "tcp", "port": 8087, "seconds": 0.2},
        {"kind": "http", "url": "http://127.0.0.1:8086/none", "seconds": 0.2},
        {"kind": "command", "run": "echo no such thing; exit 1", "seconds": 0.2},
        {"kind": "service", "name": "nowhere", "seconds": 0.2},
    ]
    said = node.told(web, service("web"), checks=[*checks, *bad])
    assert said["state"] == "applied", said
    assert [c["passed"] for c in said["checks"]] == [True] * 4 + [False] * 4, said["checks"]
    assert [c["detail"] for c in said["checks"]] == [
        "127.0.0.1:8086 accepts connections",
        "http://127.0.0.1:8086/system.conf answers 200",
        "systemctl is-active --quiet web: ended well",
        "web.service is active (running)",
        "127.0.0.1:8087: Connection refused",
        "http://127.0.0.1:8086/none answers 404, not 200 to 399",
        "echo no such thing; exit 1: no such thing",
        "nowhere.service is inactive (dead)",
    ]
    # What is declared is so, whatever the checks find; and they are run when nothing else is done.
    node.machine.run(["systemctl", "kill", "--signal=STOP", "web"])
    again = node.told(web, service("web"), checks=checks)
    assert again["changed"] is False
    assert [c["passed"] for c in again["checks"]] == [True, False, True, True]
    assert "no answer within" in again["checks"][1]["detail"]
    node.machine.run(["systemctl", "kill", "--signal=KILL", "web"])
    node.told()
