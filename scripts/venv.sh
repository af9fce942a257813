#!/bin/sh
# Makes .venv from requirements/dev.lock and puts the project into it, editable. `make` calls this
# when pyproject.toml or the lock changed. uv does it where it is on PATH, venv and pip elsewhere.
# PYTHON says which interpreter; python3 without it. Nothing is installed outside .venv, no
# interpreter either.
set -eu

lock=requirements/dev.lock
python=${PYTHON:-python3}

fail() {
    echo "$1" >&2
    exit 1
}

check_python() {
    command -v "$python" >/dev/null ||
        fail "meshwright needs Python 3.11 or newer, and there is no $python here."
    version=$("$python" -c 'import platform; print(platform.python_version())') ||
        fail "meshwright needs Python 3.11 or newer, and $python does not run."
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "meshwright needs Python 3.11 or newer, and $python is $version (make PYTHON=... says which)."
}

with_uv() {
    echo 'setting up .venv with uv'
    uv venv --quiet --clear --no-python-downloads \
        --python "$("$python" -c 'import sys; print(sys.executable)')" .venv
    uv pip sync --quiet --python .venv/bin/python --require-hashes "$lock"
    uv pip install --quiet --python .venv/bin/python --no-build-isolation --no-deps --editable .
}

with_pip() {
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "$python cannot make virtual environments (Debian: apt install python3-venv)."
    echo 'setting up .venv with pip (half a minute or so)'
    "$python" -m venv --clear .venv
    # -qq leaves errors, and says when the network is away.
    pip='.venv/bin/python -m pip --disable-pip-version-check -qq --no-input'
    $pip install --require-hashes --requirement "$lock"
    $pip install --no-build-isolation --no-deps --editable .
}

check_python
if command -v uv >/dev/null; then
    with_uv
else
    with_pip
fi
