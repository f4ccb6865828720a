#!/bin/sh
# Makes .venv from a lock file (`run`: what runs; `dev`: with the test tools), and again only when the lock has changed.
# Plain sh, because nothing is installed yet and the Python found may be too old to read anything else of this project.
set -eu
cd "$(dirname "$0")/.."
case "${1:-run}" in
    run) lock=requirements.lock; stamp=.venv/installed.lock ;;
    dev) lock=requirements-dev.lock; stamp=.venv/installed-dev.lock ;;
    *) echo "usage: sh config/environment.sh run|dev" >&2; exit 1 ;;
esac

stop() {
    echo "Concord cannot start: $1" >&2
    exit 1
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() { # Sets `python` to the first that is new enough; PYTHON=… asks for one by name.
    if [ -n "${PYTHON:-}" ]; then
        new_enough "$PYTHON" || stop "PYTHON=$PYTHON: expected Python 3.11 or newer."
        python=$PYTHON
        return
    fi
    for python in python3.13 python3.12 python3.11 python3 python; do
        if new_enough "$python"; then return; fi
    done
    found=$(python3 --version 2>&1) || found="no Python"
    stop "it needs Python 3.11 or newer and found $found; install a newer one, or name one: make run PYTHON=/path/to/python3."
}

show_progress() { # One line that counts up on a terminal, a line for every tenth package elsewhere.
    terminal=0; [ -t 1 ] && terminal=1
    awk -v total="$(grep -c '^[a-zA-Z0-9]' "$lock")" -v terminal="$terminal" '
        /^(Collecting|Requirement already)/ {
            count += 1
            name = $1 == "Collecting" ? $2 : $4
            if (terminal) printf "\r  %d of %d  %-50.50s", count, total, name
            else if (count % 10 == 0 || count == total) printf "  %d of %d packages\n", count, total
            fflush()
        }
        /^Installing/ { printf terminal ? "\r  %-66s" : "  %s\n", "unpacking"; fflush() }
        END { if (terminal) printf "\r%-70s\r", "" }'
}

install() {
    failed=.venv/install-failed
    : >"$failed"
    { # The lock is complete, so nothing has to be resolved; bytecode is written by the first import of what is used.
        .venv/bin/python -m pip install --disable-pip-version-check --no-input --require-hashes --no-deps --no-compile \
            --progress-bar off -r "$lock" 2>.venv/install.log && rm -f "$failed"
    } | show_progress
    [ -f "$failed" ] || return 0
    grep -v '^ *$' .venv/install.log | tail -n 5 >&2
    stop "the packages of $lock could not be installed (above; all of it in .venv/install.log)."
}

# An environment whose interpreter is gone (moved, upgraded away) is made anew.
if [ ! -x .venv/bin/python ] || ! new_enough .venv/bin/python; then
    find_python
    echo "Making the environment .venv with $("$python" --version 2>&1)"
    said=$("$python" -m venv --clear .venv 2>&1) || {
        echo "$said" | tail -n 3 >&2
        stop "$python could not make .venv (above); on Debian and Ubuntu: apt install python3-venv."
    }
fi
if ! cmp -s "$lock" "$stamp"; then
    echo "Installing the packages of $lock"
    install
    cp "$lock" "$stamp"
    # The test tools' lock holds the same versions of what runs, so one installation answers for both.
    [ "$lock" = requirements.lock ] || cp requirements.lock .venv/installed.lock
fi
