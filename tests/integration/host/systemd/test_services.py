"""Services on a machine with real systemd (design, parts 8 and 11).

> A service counts as running when it is still active some seconds after its start and is not restarting over
> and over; a oneshot when it ended well.
"""

from tests.integration.host.systemd.node import DAEMON, Node, done, file, service, unit, why


def told_again(node: Node, *resources: dict[str, object]) -> dict[str, object]:
    said = node.told(*resources)
    assert said["changed"] is False, said
    return said


def test_it_is_enabled_and_running_and_a_second_apply_does_nothing(node: Node) -> None:
    web = [unit("one"), service("one")]
    said = node.told(*web)
    assert said["state"] == "applied", said
    assert done(said) == {
        "path:/etc/systemd/system/one.service": ("make", "done"),
        "service:one": ("make", "done"),
    }
    assert node.state("one") == ("enabled", "active")
    invocation = node.shown("one", "InvocationID")
    told_again(node, *web)
    assert node.shown("one", "InvocationID") == invocation

    said = node.told()
    assert done(said)["service:one"] == ("restore", "done")
    assert node.shown("one", "LoadState", "ActiveState") == ["not-found", "inactive"]
    assert not node.machine.exists("/etc/systemd/system/multi-user.target.wants/one.service")


def test_it_restarts_when_its_configuration_changed_and_not_otherwise(node: Node) -> None:
    def web(conf: str, other: str = "1") -> list[dict[str, object]]:
        return [
            unit("two"),
            file("/etc/two.conf", conf),
            file("/etc/other.conf", other),
            service("two", restart_on=["/etc/two.conf"]),
        ]

    node.told(*web("a"))
    first = node.shown("two", "InvocationID", "MainPID")
    assert done(node.told(*web("a", other="2"))) == {"path:/etc/other.conf": ("change", "done")}
    assert node.shown("two", "InvocationID", "MainPID") == first
    assert done(node.told(*web("b", other="2"))) == {
        "path:/etc/two.conf": ("change", "done"),
        "service:two": ("refresh", "done"),
    }
    second = node.shown("two", "InvocationID", "MainPID")
    assert second[0] != first[0]
    assert second[1] != first[1]
    # A file that was edited by hand is put back, and that is a change as well.
    node.machine.write("/etc/two.conf", b"by hand")
    assert done(node.told(*web("b", other="2")))["service:two"] == ("refresh", "done")
    third = node.shown("two", "InvocationID")
    assert third[0] != second[0]
    told_again(node, *web("b", other="2"))
    assert node.shown("two", "InvocationID") == third
    node.told()


def test_it_is_reloaded_where_it_can_be(node: Node) -> None:
    can = DAEMON.replace("[Install]", "ExecReload=/bin/sh -c 'cp /etc/three.routes /run/three'\n[Install]")

    def web(routes: str, conf: str, content: str = can) -> list[dict[str, object]]:
        return [
            unit("three", content),
            file("/etc/three.routes", routes),
            file("/etc/three.conf", conf),
            service("three", reload_on=["/etc/three.routes"], restart_on=["/etc/three.conf"]),
        ]

    node.told(*web("1", "1"))
    first = node.shown("three", "InvocationID")
    assert done(node.told(*web("2", "1")))["service:three"] == ("refresh", "done")
    assert node.shown("three", "InvocationID") == first
    assert node.machine.read("/run/three") == b"2"
    node.told(*web("3", "2"))
    assert node.shown("three", "InvocationID") != first  # both changed
    # One that cannot be reloaded is restarted.
    node.told(*web("3", "2", DAEMON))
    before = node.shown("three", "InvocationID")
    said = node.told(*web("4", "2", DAEMON))
    assert done(said)["service:three"] == ("refresh", "done")
    assert node.shown("three", "InvocationID") != before
    node.told()


def test_its_unit_that_changed_is_read_again(node: Node) -> None:
    def web(seconds: int) -> list[dict[str, object]]:
        content = DAEMON.replace("1000", str(seconds))
        return [unit("four", content), service("four", restart_on=["/etc/systemd/system/four.service"])]

    node.told(*web(1000))
    assert done(node.told(*web(2000)))["service:four"] == ("refresh", "done")
    [pid, outdated] = node.shown("four", "MainPID", "NeedDaemonReload")
    assert node.machine.read(f"/proc/{pid}/cmdline") == b"/bin/sleep\x002000\x00"
    assert outdated == "no"
    node.told()


def test_one_that_fails_is_told_with_its_own_words_and_the_rest_is_applied(node: Node) -> None:
    words = "port 8080 is held by pid 812"
    content = (
        f"[Service]\nExecStart=/bin/sh -c 'echo {words} >&2; exit 3'\n[Install]\nWantedBy=multi-user.target\n"
    )
    said = node.told(unit("five", content), service("five"), unit("rest"), service("rest"))
    assert said["state"] == "failed"
    assert done(said)["service:five"] == ("make", "failed")
    assert why(said, "service:five") == f"five.service does not stay up: it is failed (exit-code): {words}"
    assert node.state("rest") == ("enabled", "active")
    # The next run goes on from there.
    said = node.told(unit("five"), service("five"), unit("rest"), service("rest"))
    assert said["state"] == "applied", said
    assert node.state("five") == ("enabled", "active")
    node.told()


def test_one_that_fails_before_it_is_started_is_told_with_the_words_of_systemd(node: Node) -> None:
    notifies = "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo no disk; exit 4'\n"
    said = node.told(
        unit("six", notifies), service("six", enabled=False) | {"enabled": True},
        unit("bad", "[Service]\nType=simple\n"), service("bad"),
        service("nowhere"),
        unit("nobody", DAEMON.replace("[Install]", "User=nobody-here\n[Install]")), service("nobody"),
    )  # fmt: skip
    assert why(said, "service:six") == (
        "Job for six.service failed because the control process exited with error code: no disk"
    )
    assert why(said, "service:bad").startswith("Unit bad.service has a bad unit file setting: ")
    assert "lacks" in why(said, "service:bad") or "no ExecStart=" in why(said, "service:bad")
    assert why(said, "service:nowhere") == "Unit nowhere.service not found."
    # The words of the process that failed are lost where the journal did not see in time whose it was.
    assert "USER" in why(said, "service:nobody")
    node.told()


def test_one_that_is_masked_is_left_so(node: Node) -> None:
    node.machine.write("/usr/lib/systemd/system/seven.service", DAEMON.encode())
    node.machine.run(["systemctl", "mask", "seven"])
    said = node.told(service("seven"))
    assert why(said, "service:seven") == (
        "Unit seven.service is masked. systemctl unmask seven.service would allow it again"
    )
    assert said["owned"] == {"service:seven": {"enabled": False, "running": False}}
    node.told()
    assert node.state("seven") == ("masked", "inactive")


def test_one_that_crashes_over_and_over_does_not_run(node: Node) -> None:
    loop = DAEMON.replace("/bin/sleep 1000", "/bin/sh -c 'sleep 0.3; echo no database; exit 1'")
    loop = loop.replace("[Install]", "Restart=always\nRestartSec=0.1\n[Install]").replace(
        "[Service]", "[Unit]\nStartLimitIntervalSec=0\n[Service]"
    )
    resources = [unit("eight", loop), service("eight")]
    said = node.told(*resources)
    assert why(said, "service:eight").startswith(
        "eight.service does not stay up: it is restarting over and over ("
    )
    assert "no database" in why(said, "service:eight")
    # Nor does it, looked at a moment later, whatever it does just then; it is tried again each time.
    for _ in range(3):
        said = node.told(*resources, checks=[{"kind": "service", "name": "eight", "seconds": 0.1}])
        assert done(said)["service:eight"] == ("change", "failed")
        assert said["checks"][0]["passed"] is False
    node.told()


def test_a_oneshot_is_done_when_it_ended_well(node: Node) -> None:
    once = "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo ran >>/run/{0}'\n{1}[Install]\nWantedBy={2}\n"
    cases = {
        "nine": once.format("nine", "", "multi-user.target"),
        "remains": once.format("remains", "RemainAfterExit=yes\n", "multi-user.target"),
        # Nothing that is loaded wants it, so systemd forgets that it ran.
        "forgotten": once.format("forgotten", "", "nowhere.target"),
        # It is skipped: that is well, and it is not tried again and again.
        "skipped": "[Unit]\nConditionPathExists=/nowhere\n" + once.format("skipped", "", "multi-user.target"),
    }
    resources = [item for name, content in cases.items() for item in (unit(name, content), service(name))]
    assert node.told(*resources)["state"] == "applied"
    for name in ("nine", "remains", "forgotten"):
        assert node.machine.read(f"/run/{name}") == b"ran\n"
    told_again(node, *resources)
    assert node.machine.read("/run/nine") == b"ran\n"
    said = node.told()
    assert {outcome for _, outcome in done(said).values()} == {"done"}
    for name in cases:
        assert node.shown(name, "LoadState") == ["not-found"]


def test_a_oneshot_that_never_ran_is_run(node: Node) -> None:
    content = (
        "[Service]\nType=oneshot\nExecStart=/bin/touch /run/ten\n[Install]\nWantedBy=multi-user.target\n"
    )
    node.machine.write("/etc/systemd/system/ten.service", content.encode())
    node.machine.run(["systemctl", "enable", "ten"])
    said = node.told(service("ten"))
    assert done(said) == {"service:ten": ("make", "done")}
    assert node.machine.exists("/run/ten")
    node.told()


def test_what_was_enabled_and_running_before_stays_so(node: Node) -> None:
    for name in ("both", "enabled", "running"):
        node.machine.write(f"/etc/systemd/system/{name}.service", DAEMON.encode())
    node.machine.run(["systemctl", "enable", "both", "enabled"])
    node.machine.run(["systemctl", "start", "both", "running"])
    invocations = [node.shown(name, "InvocationID") for name in ("both", "running")]
    said = node.told(service("both"), service("enabled"), service("running"))
    assert done(said) == {
        "service:both": ("adopt", "done"),
        "service:enabled": ("make", "done"),
        "service:running": ("make", "done"),
    }
    assert [node.state(name) for name in ("both", "enabled", "running")] == [("enabled", "active")] * 3
    said = node.told()
    assert done(said) == {
        "service:both": ("release", "done"),
        "service:enabled": ("restore", "done"),
        "service:running": ("restore", "done"),
    }
    assert node.state("both") == ("enabled", "active")
    assert node.state("enabled") == ("enabled", "inactive")
    assert node.state("running") == ("disabled", "active")
    assert [node.shown(name, "InvocationID") for name in ("both", "running")] == invocations


def test_one_that_is_to_be_off_is_off_and_comes_back(node: Node) -> None:
    node.machine.write("/etc/systemd/system/eleven.service", DAEMON.encode())
    node.machine.run(["systemctl", "enable", "--now", "eleven"])
    off = service("eleven", enabled=False, running=False)
    assert done(node.told(off)) == {"service:eleven": ("make", "done")}
    assert node.state("eleven") == ("disabled", "inactive")
    told_again(node, off)
    # Somebody starts it: that is reported, and put back.
    node.machine.run(["systemctl", "start", "eleven"])
    assert done(node.told(off)) == {"service:eleven": ("put-back", "done")}
    assert node.state("eleven") == ("disabled", "inactive")
    assert done(node.told()) == {"service:eleven": ("restore", "done")}
    assert node.state("eleven") == ("enabled", "active")


def test_one_that_somebody_stopped_is_started_again_and_left_once_it_is_let_go(node: Node) -> None:
    resources = [unit("twelve"), service("twelve")]
    node.told(*resources)
    node.machine.run(["systemctl", "stop", "twelve"])
    assert done(node.told(*resources)) == {"service:twelve": ("put-back", "done")}
    assert node.state("twelve") == ("enabled", "active")
    node.machine.run(["systemctl", "stop", "twelve"])
    said = node.told()
    assert done(said)["service:twelve"] == ("leave", "done")
    assert not node.machine.exists("/etc/systemd/system/twelve.service")


def test_one_whose_unit_went_before_it_is_let_go_of(node: Node) -> None:
    node.machine.write("/etc/systemd/system/gone.service", DAEMON.encode())
    assert node.told(service("gone"))["state"] == "applied"
    node.machine.run(["systemctl", "disable", "--now", "gone"])
    node.machine.run(["rm", "/etc/systemd/system/gone.service"])
    node.machine.run(["systemctl", "daemon-reload"])
    said = node.told()
    assert done(said)["service:gone"] in {("release", "done"), ("restore", "done")}
    assert said["owned"] == {}


def test_a_static_unit_counts_as_enabled(node: Node) -> None:
    static = "[Service]\nExecStart=/bin/sleep 1000\n"
    resources = [unit("static", static), service("static")]
    assert node.told(*resources)["state"] == "applied"
    assert node.state("static") == ("static", "active")
    told_again(node, *resources)
    said = node.told(unit("static", static), service("static", enabled=False))
    assert why(said, "service:static") == "static.service is static: it can be neither enabled nor disabled"
    assert {outcome for _, outcome in done(node.told()).values()} == {"done"}
    assert node.shown("static", "LoadState", "ActiveState") == ["not-found", "inactive"]


def test_a_timer_and_an_instance_of_a_template(node: Node) -> None:
    timer = "[Timer]\nOnCalendar=yearly\n[Install]\nWantedBy=timers.target\n"
    resources = [
        unit("yearly", "[Service]\nType=oneshot\nExecStart=/bin/touch /run/yearly\n"),
        file("/etc/systemd/system/yearly.timer", timer),
        service("yearly.timer"),
        unit("many@"),
        service("many@first"),
    ]
    assert node.told(*resources)["state"] == "applied"
    assert node.state("yearly.timer") == ("enabled", "active")
    assert node.state("many@first") == ("enabled", "active")
    assert node.shown("many@second", "UnitFileState") != ["enabled"]
    told_again(node, *resources)
    assert not node.machine.exists("/run/yearly")
    assert {outcome for _, outcome in done(node.told()).values()} == {"done"}
    assert node.shown("many@first", "LoadState", "ActiveState") == ["not-found", "inactive"]
