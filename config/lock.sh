#!/bin/sh
# Writes requirements.lock (what runs) and requirements-dev.lock (that and the test tools), with the hashes of every
# platform's files and no registry's address. This machine's own pip settings stay out of it, so that the result is the
# same wherever it is made; a mirror can still be named in PIP_INDEX_URL.
set -eu
cd "$(dirname "$0")/.."
export PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND="make lock"
unset PIP_FIND_LINKS PIP_EXTRA_INDEX_URL PIP_CONSTRAINT

compile() {
    .venv/bin/python -m piptools compile --quiet --no-config --generate-hashes --allow-unsafe --strip-extras \
        --no-emit-index-url --no-emit-find-links --no-emit-trusted-host "$@" pyproject.toml
}

compile --output-file=requirements.lock "$@"
compile --output-file=requirements-dev.lock --extra=dev --constraint=requirements.lock "$@"
echo "requirements.lock and requirements-dev.lock are up to date; read the difference before you commit it."
