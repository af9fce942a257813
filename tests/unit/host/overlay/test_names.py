"""The block of names in a hosts file, by examples; its laws are in tests/property."""

from __future__ import annotations

import pytest

from mesh_adapters.host.overlay.names import BEGIN, END, DamagedBlock, block, with_names

PI = (("pi", "10.77.0.3"),)
TWO = (("nas", "10.77.0.2"), *PI)
WINDOWS = b"127.0.0.1 localhost\r\n10.0.0.1 printer\r\n"


def test_a_line_for_each_name_between_two_that_say_whose_it_is() -> None:
    assert block(TWO) == BEGIN + b"\n10.77.0.2 nas.mesh\n10.77.0.3 pi.mesh\n" + END + b"\n"


def test_the_lines_of_another_system_stay_as_they_are() -> None:
    assert with_names(WINDOWS, PI) == WINDOWS + block(PI)
    assert with_names(with_names(WINDOWS, PI), ()) == WINDOWS


def test_a_block_that_an_editor_wrote_in_its_own_way_is_found() -> None:
    edited = with_names(WINDOWS, PI).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    assert with_names(edited, TWO) == WINDOWS + block(TWO)
    trailing = with_names(b"", PI).replace(END, END + b"  \t")
    assert with_names(trailing, ()) == b""


def test_a_last_line_that_is_not_ended_is_not_ended_by_us() -> None:
    content = b"127.0.0.1 localhost"
    assert with_names(content, PI) == block(PI) + content
    assert with_names(with_names(content, PI), ()) == content


def test_a_file_whose_last_line_is_the_end_of_the_block_need_not_end_it() -> None:
    cut = with_names(b"127.0.0.1 localhost\n", PI)[:-1]
    assert with_names(cut, TWO) == b"127.0.0.1 localhost\n" + block(TWO)


def test_what_only_tells_of_the_block_is_none() -> None:
    content = b"# see '" + BEGIN + b"'\n#" + END + b"\n"
    assert with_names(content, PI) == content + block(PI)


@pytest.mark.parametrize(
    "lines",
    [
        [BEGIN],
        [END],
        [END, BEGIN],
        [BEGIN, BEGIN, END],
        [BEGIN, END, END],
        [BEGIN, END, BEGIN, END],
    ],
)
@pytest.mark.parametrize("names", [(), PI])
def test_half_a_block_or_two_are_refused(lines: list[bytes], names: tuple[tuple[str, str], ...]) -> None:
    with pytest.raises(DamagedBlock):
        with_names(b"\n".join([b"127.0.0.1 localhost", *lines, b""]), names)
