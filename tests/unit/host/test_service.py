"""The kind `service`, on a systemd of values (design, parts 8 and 11)."""

import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from mesh_adapters.host.attributes import faults_of
from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.kind import Acted, Context, Done, Failed, Unobservable
from mesh_adapters.host.kinds.service import Service
from mesh_adapters.host.systemd import RECENT, UNIT_NAME
from mesh_core import Resource
from mesh_core.reconcile import Act, Action, Fact, State
from tests.unit.host.fake_systemd import FakeSystemd, FakeUnit, ended, machine_with

KIND = Service(settled=0)
OFF = {"enabled": False, "running": False}
ON = {"enabled": True, "running": True}


def web(name: str = "web", **attributes: object) -> Resource:
    return Resource(kind="service", name=name, attributes_json=attributes)


def act(
    systemd: FakeSystemd,
    act: Act,
    target: Mapping[str, Fact] = ON,
    because: tuple[str, ...] = (),
    resource: Resource | None = None,
) -> Acted:
    resource = resource or web()
    seen = KIND.observe([resource], systemd.machine)[resource.identity]
    assert isinstance(seen, State)
    action = Action(
        act=act, identity=resource.identity, kind="service", position=0, observed=seen,
        target=State(facts=target), before=State(facts=OFF), because=because,
    )  # fmt: skip
    return KIND.act(action, resource, None, systemd.machine)


def seen(unit: FakeUnit) -> dict[str, Fact]:
    state = KIND.observe([web()], FakeSystemd(units={"web.service": unit}).machine)["service:web"]
    assert isinstance(state, State)
    return state.as_data()


def test_it_is_enabled_and_running_where_it_is_not_said_otherwise() -> None:
    prepared = KIND.prepare(web(restart_on=["/b"], reload_on=["/a"]), Context(data={}))
    assert prepared.wanted.state.as_data() == ON
    assert set(prepared.wanted.watches) == {"path:/a", "path:/b"}
    off = KIND.prepare(web(enabled=False, running=False), Context(data={}))
    assert off.wanted.state.as_data() == OFF


@pytest.mark.parametrize(
    ("resource", "key", "found", "wanted"),
    [
        (web("ssh.service"), "name", "found 'ssh.service'", "a service is named without .service"),
        (web("a*"), "name", "found 'a*'", UNIT_NAME),
        (web("-h"), "name", "found '-h'", UNIT_NAME),
        (web(enabled="yes"), "enabled", 'found "yes"', "true or false"),
        (web(restart_on=["etc/x"]), "restart_on", 'found ["etc/x"]', "a list of absolute paths"),
        (web(x=1), "x", "unknown attribute", "a service knows enabled, reload_on, restart_on, running"),
    ],
)
def test_what_it_cannot_use_is_refused(resource: Resource, key: str, found: str, wanted: str) -> None:
    [fault] = faults_of(resource, KIND)
    assert (fault.key, fault.found, fault.wanted) == (key, found, wanted)


def test_a_timer_and_an_instance_are_names_too() -> None:
    for name in ("fstrim.timer", "getty@tty2", "dev-sda1.swap", "a\\x2db", "web-2.1"):
        assert list(faults_of(web(name), KIND)) == []


def test_all_are_looked_at_with_one_call() -> None:
    systemd = FakeSystemd(units={"web.service": FakeUnit(file_state="enabled", active="active")})
    names = ["web", "fstrim.timer", *(f"s{n}" for n in range(50))]
    found = KIND.observe([web(name) for name in names], systemd.machine)
    assert systemd.asked == 1
    assert found["service:web"] == State(facts=ON)
    assert found["service:fstrim.timer"] == found["service:s49"] == State(facts=OFF)
    assert KIND.observe([], systemd.machine) == {}


def test_a_machine_without_systemd_cannot_be_looked_at() -> None:
    def run(command: Command) -> Ended:
        return ended(
            command, code=1, errors="System has not been booted with systemd as init system (PID 1).\n"
        )

    why = "systemctl: System has not been booted with systemd as init system (PID 1)."
    assert KIND.observe([web()], machine_with(run)) == {"service:web": Unobservable(why=why)}


def test_half_an_answer_is_none() -> None:
    def run(command: Command) -> Ended:
        return ended(command, output=FakeUnit().shown("a.service"))

    found = KIND.observe([web("a"), web("b")], machine_with(run))
    assert all(isinstance(state, Unobservable) for state in found.values())


@pytest.mark.parametrize(
    ("state", "enabled"),
    [("enabled", True), ("disabled", False), ("enabled-runtime", False), ("linked", False), ("masked", False),
     ("static", True), ("generated", True), ("alias", True), ("indirect", True), ("", False), ("bad", False)],
)  # fmt: skip
def test_what_counts_as_enabled(state: str, enabled: bool) -> None:
    assert seen(FakeUnit(file_state=state))["enabled"] is enabled


def restarted(ago: float) -> dict[str, str]:
    since = int((time.monotonic() - ago) * 1_000_000)
    return {"NRestarts": "4", "ActiveEnterTimestampMonotonic": str(since)}


AWAITED = {"WantedBy": "multi-user.target"}
TRIED = {"ConditionTimestampMonotonic": "7"}


@pytest.mark.parametrize(
    ("unit", "running"),
    [
        (FakeUnit(active="active"), True),
        (FakeUnit(active="reloading"), True),
        (FakeUnit(active="inactive"), False),
        (FakeUnit(active="failed"), False),
        (FakeUnit(active="activating", sub="auto-restart"), False),
        (FakeUnit(active="activating", sub="start"), False),
        (FakeUnit(active="deactivating"), False),
        # It restarted by itself: just now (whenever this list was read), or long ago.
        (FakeUnit(active="active", more=restarted(-3600)), False),
        (FakeUnit(active="active", more=restarted(RECENT + 1)), True),
        # A oneshot: it ran, never ran, failed, is at it, is tried again and again, and is forgotten.
        (FakeUnit(type="oneshot", more=AWAITED | TRIED), True),
        (FakeUnit(type="oneshot", more=AWAITED), False),
        (FakeUnit(type="oneshot", active="failed", more=AWAITED | TRIED), False),
        (FakeUnit(type="oneshot", active="activating", sub="start"), True),
        (FakeUnit(type="oneshot", active="activating", sub="auto-restart"), False),
        (FakeUnit(type="oneshot"), True),
        (FakeUnit(type="oneshot", active="active", sub="exited", more={"RemainAfterExit": "yes"}), True),
        (FakeUnit(type="oneshot", more={"RemainAfterExit": "yes"} | TRIED), False),
    ],
)  # fmt: skip
def test_what_counts_as_running(unit: FakeUnit, running: bool) -> None:
    assert seen(unit)["running"] is running


@pytest.mark.parametrize(
    ("unit", "target", "calls"),
    [
        (FakeUnit(), ON, ["enable web.service", "start web.service"]),
        (FakeUnit(file_state="enabled"), ON, ["start web.service"]),
        (FakeUnit(active="active"), ON, ["enable web.service"]),
        (FakeUnit(file_state="enabled", active="active"), OFF, ["disable web.service", "stop web.service"]),
        (FakeUnit(active="failed"), ON | {"enabled": False}, ["start web.service"]),
        (FakeUnit(active="activating", sub="auto-restart"), ON | {"enabled": False}, ["restart web.service"]),
        (FakeUnit(active="activating", sub="auto-restart"), OFF, ["stop web.service"]),
        (FakeUnit(active="failed"), OFF, []),
        (FakeUnit(outdated=True), ON | {"enabled": False}, ["daemon-reload", "start web.service"]),
        (FakeUnit(active="active", type="oneshot", file_state="static"), ON, []),
        # A oneshot that nobody knows to have run is run when it is made.
        (FakeUnit(type="oneshot", file_state="enabled"), ON, ["start web.service"]),
    ],
)  # fmt: skip
def test_what_differs_is_changed_and_no_more(
    unit: FakeUnit, target: Mapping[str, Fact], calls: list[str]
) -> None:
    systemd = FakeSystemd(units={"web.service": unit})
    assert act(systemd, Act.MAKE, target) == Done()
    assert systemd.calls == calls


def test_a_oneshot_that_was_run_is_not_run_again_because_it_was_disabled() -> None:
    systemd = FakeSystemd(units={"web.service": FakeUnit(type="oneshot")})
    assert act(systemd, Act.PUT_BACK) == Done()
    assert systemd.calls == ["enable web.service"]


@pytest.mark.parametrize(
    ("because", "can_reload", "active", "verb"),
    [
        (["/reload"], True, "active", "reload"),
        (["/reload", "/reload2"], True, "active", "reload"),
        (["/reload"], False, "active", "restart"),
        (["/reload"], True, "inactive", "start"),  # and so it reads what changed
        (["/restart"], True, "active", "restart"),
        (["/reload", "/restart"], True, "active", "restart"),
        (["/both"], True, "active", "restart"),
        ([], True, "active", "restart"),  # it was stale in the journal, and nobody knows why
    ],
)
def test_a_file_that_it_watches(because: list[str], can_reload: bool, active: str, verb: str) -> None:
    resource = web(restart_on=["/restart", "/both"], reload_on=["/reload", "/reload2", "/both"])
    unit = FakeUnit(file_state="enabled", active=active, can_reload=can_reload)
    systemd = FakeSystemd(units={"web.service": unit})
    done = act(systemd, Act.REFRESH, ON, tuple(f"path:{path}" for path in because), resource)
    assert done == Done()
    assert systemd.calls == [f"{verb} web.service"]


def test_one_that_is_to_be_stopped_is_not_started_by_a_file() -> None:
    systemd = FakeSystemd(units={"web.service": FakeUnit()})
    assert act(systemd, Act.REFRESH, OFF, ("path:/x",), web(restart_on=["/x"])) == Done()
    assert systemd.calls == []


def test_a_start_that_is_refused_is_told_in_the_words_of_both() -> None:
    def started(unit: FakeUnit) -> str:
        unit.active = "failed"
        unit.words = [("1", "Starting web.service"), ("8", "port 80 is held"), ("1", "Failed")]
        return 'Job for web.service failed.\nSee "systemctl status web.service" for details.\n'

    systemd = FakeSystemd(units={"web.service": FakeUnit(started=started)})
    assert act(systemd, Act.MAKE) == Failed(why="Job for web.service failed: port 80 is held")


def test_one_that_ends_after_its_start_is_told() -> None:
    def started(unit: FakeUnit) -> str:
        unit.active = "inactive"
        unit.words = [("1", "web.service: Deactivated successfully.")]
        return ""

    systemd = FakeSystemd(units={"web.service": FakeUnit(started=started)})
    why = "web.service ended by itself right after its start: web.service: Deactivated successfully."
    assert act(systemd, Act.MAKE) == Failed(why=why)


def test_one_that_restarted_while_it_was_watched_did_not_start() -> None:
    def started(unit: FakeUnit) -> str:
        unit.more = restarted(0) | {"Result": "exit-code"}
        return ""

    systemd = FakeSystemd(units={"web.service": FakeUnit(started=started)})
    why = "web.service does not stay up: it is restarting over and over (exit-code)"
    assert act(systemd, Act.MAKE) == Failed(why=why)


def test_it_is_watched_for_as_long_as_it_takes_to_settle() -> None:
    """It fails a quarter of a second after its start, when it was looked at once already."""
    systemd = FakeSystemd()
    looks: list[str] = []

    def run(command: Command) -> Ended:
        if "show" in command.argv and "start web.service" in systemd.calls:
            looks.append("look")
            systemd.units["web.service"].active = "active" if len(looks) < 3 else "failed"
        return systemd.run(command)

    systemd.units["web.service"] = FakeUnit(file_state="enabled")
    action = Action(
        act=Act.MAKE, identity="service:web", kind="service", position=0, observed=None,
        target=State(facts=ON), before=State(facts=OFF),
    )  # fmt: skip
    done = Service(settled=5).act(action, web(), None, machine_with(run))
    assert isinstance(done, Failed)
    assert len(looks) == 3


def test_one_that_is_not_there_cannot_be_made_and_is_gone_when_it_is_let_go() -> None:
    systemd = FakeSystemd()
    assert act(systemd, Act.MAKE) == Failed(why="Unit web.service not found.")
    for way_out in (Act.RESTORE, Act.REMOVE):
        assert act(systemd, way_out, ON) == Done()
        assert act(systemd, way_out, OFF) == Done()
    assert systemd.calls == []


def test_one_whose_file_is_gone_and_that_still_runs_is_stopped() -> None:
    unit = FakeUnit(load="not-found", file_state="", active="active")
    systemd = FakeSystemd(units={"web.service": unit})
    assert act(systemd, Act.RESTORE, OFF) == Done()
    assert systemd.calls == ["stop web.service"]


def test_under_a_root_nothing_runs(tmp_path: Path) -> None:
    (tmp_path / "usr/lib/systemd").mkdir(parents=True)
    asked: list[tuple[str, ...]] = []

    def run(command: Command) -> Ended:
        asked.append(command.argv)
        output = "web.service enabled enabled\n" if "list-unit-files" in command.argv else "disabled\n"
        return ended(command, output=output)

    machine = machine_with(run, tmp_path)
    wanted = KIND.on(machine, State(facts=ON))
    assert wanted == State(facts={"enabled": True})
    found = KIND.observe([web(), web("other"), web("many@first")], machine)
    assert found == {
        "service:web": State(facts={"enabled": True}),
        "service:other": State(facts={"enabled": False}),
        "service:many@first": State(facts={"enabled": False}),
    }
    assert all(f"--root={tmp_path}" in argv for argv in asked)
    assert KIND.on(FakeSystemd().machine, State(facts=ON)) == State(facts=ON)


def test_a_root_without_systemd_is_left_out(tmp_path: Path) -> None:
    [found] = KIND.observe([web()], machine_with(FakeSystemd().run, tmp_path)).values()
    assert found == Unobservable(why=f"there is no systemd under {tmp_path}", elsewhere=True)
