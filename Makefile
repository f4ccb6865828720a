# Names of commands, nothing more: each also runs by itself.
.PHONY: run dev test check test-browser stress bench-agreement bench-serving lock

run: ## Everything from nothing to the demo: environment, database, demo project, web, worker and beat
	@sh config/environment.sh run
	@.venv/bin/python -m config.launch

dev: ## The environment with the test tools
	@sh config/environment.sh dev

test: dev ## Every test this machine allows; names what it left out
	@.venv/bin/python -m tests.run

test-browser: dev
	@.venv/bin/python -m tests.run browser

stress: dev
	@.venv/bin/python -m tests.run stress

check: dev ## What CI asks before the tests
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/python manage.py makemigrations --check --dry-run
	.venv/bin/python manage.py check --deploy --fail-level WARNING

bench-agreement: dev
	@.venv/bin/python -m tests.benchmarks.agreement

bench-serving: dev
	@CONCORD_BENCH=$${CONCORD_BENCH:-var/bench} .venv/bin/python -m tests.benchmarks.serving

lock: dev ## Both lock files anew, with hashes and no registry's address
	@sh config/lock.sh
