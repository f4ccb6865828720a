"""Real ratings through the whole product: four people label 500 question pairs over HTTP, and every figure equals the
reference to 1e-9 (`tests/reference/real_data.json`); then conflicts, guideline 2.0, and a wave of fresh items only."""

import json
import os
import re
import threading
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.stack import Stack, Visitor, form_in, text_of, wait_for

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("CONCORD_SHARED_DATA", ROOT.parent / "shared" / "data"))
PAIRS = SHARED / "paraphrase.jsonl"
FRESH = ROOT / "tests" / "data" / "pairs_60.jsonl"
REFERENCE = json.loads((ROOT / "tests" / "reference" / "real_data.json").read_text(encoding="utf-8"))
PASSWORD = "correct horse battery"
RATERS = {"ann1": "Ann1", "ann2": "Ann2", "ann3": "Ann3", "ann4": "Ann4"}
pytestmark = [
    pytest.mark.one_database,
    pytest.mark.shared_data,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PAIRS.exists(), reason=f"the real ratings are not here: {PAIRS.name}"),
]

# The project is set up by the functions behind the pages; everything after that goes over HTTP.
SET_UP = """
from django.utils import timezone
from annotations import publishing
from projects import drafts, guidelines, labels, members
from projects.enums import Change, Role
from projects.labels import NewLabel
from projects.models import User

def user(name):
    return User.objects.create_user(name, name + "@example.org", {password!r})

boss = members.found(name="Paraphrases", description="", user=user("ada"))
project = boss.project
user("lea")
lead = members.add(project, username="lea", roles={{Role.LEAD}}, by=boss)
user("adam")
members.add(project, username="adam", roles={{Role.ADMIN}}, by=boss)
project.protocol |= {{"share_percent": "100", "ratings_per_item": 4, "window_submits": 0, "window_minutes": 0}}
project.save()
draft = guidelines.draft_of(project, by=lead)
for question in list(draft.questions.all()):
    labels.remove_question(question, by=lead)
labels.add_question(
    draft, key="same", text="Do the two ask the same?", task_type={task_type!r}, by=lead,
    labels=[NewLabel(name=name, key=key, value=value, definition="") for key, name, value in {labels!r}],
)
draft = drafts.current(project)
text = "# Paraphrases\\n\\nSay how far the two questions ask the same."
drafts.save_text(draft, text=text, revision=draft.revision, by=lead)
draft = drafts.current(project)
version = publishing.publish(draft, change=Change.MATERIAL, reason="first", by=lead, at=timezone.now())
for name in {raters!r}:
    user(name)
    member = members.add(project, username=name, roles={{Role.ANNOTATOR}}, by=boss)
    publishing.acknowledge(member, version, at=timezone.now())
print(project.uuid)
"""


class Replay:
    """A project in a running product, and the visits of its people."""

    def __init__(self, stack: Stack, task_type: str, labels: list[tuple[str, str, float | None]]) -> None:
        self.stack = stack
        code = SET_UP.format(password=PASSWORD, task_type=task_type, labels=labels, raters=list(RATERS))
        self.project = stack.shell(code).splitlines()[-1]
        self.base, self.api = f"/p/{self.project}", f"/api/v1/projects/{self.project}"
        self.lead = self.visitor("lea")

    def visitor(self, name: str) -> Visitor:
        made = Visitor(self.stack.url)
        made.log_in(name, PASSWORD)
        return made

    def load(self, file: Path, *words: str) -> None:
        fields = ["--fields", "question_1,question_2", "--id", "id", *words]
        self.stack.manage("import_items", self.project, str(file), *fields)

    def json(self, path: str, by: Visitor | None = None) -> Any:
        status, body = (by or self.lead).get(self.api + path)
        assert status == 200, body
        return json.loads(body)

    def open_wave(self, **choices: str) -> tuple[int, str]:
        _status, page = self.lead.get(f"{self.base}/waves/new/")
        sent = form_in(page, "open") | {"scope": "all", "size": ""} | choices
        return self.lead.post(f"{self.base}/waves/new/", sent)

    def label_all(self, answer: Callable[[str, tuple[str, ...]], str]) -> int:
        """Everybody at once labels until nothing is left; returns how many labels the server said it saved."""
        given: dict[str, int] = {}
        raised: list[BaseException] = []

        def work(name: str) -> None:
            try:
                given[name] = self._label(name, answer)
            except BaseException as error:
                raised.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in RATERS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert raised == []
        return sum(given.values())

    def _label(self, name: str, answer: Callable[[str, tuple[str, ...]], str]) -> int:
        """As the page does it: each reply to a submit carries the next item. Asks again while others hold the rest."""
        visitor, done, empty = self.visitor(name), 0, 0
        _status, page = visitor.get(f"{self.base}/label/")
        while empty < 40:
            sheet = re.search(r'data-kind="task" data-sheet="([0-9a-f-]{36})"', page)
            if sheet is None:
                empty += 1
                threading.Event().wait(0.05)
                _status, page = visitor.get(f"{self.base}/label/")
                continue
            empty = 0
            texts = tuple(unescape(text) for text in re.findall(r'class="item-text"[^>]*>(.*?)</div>', page, re.S))
            sent = {"answer-same": answer(name, texts), "seconds": "2.5"}
            status, page = visitor.post(f"{self.base}/label/{sheet[1]}/", sent, htmx=True)
            assert status == 200, page[:1000]
            done += 1
        return done

    def figures(self) -> dict[str, Any]:
        """The final figures, as soon as the worker has them, for an admin: a lead who may decide reads no names."""
        found: list[Any] = []
        admin = self.visitor("adam")

        def final() -> bool:
            found[:] = [run for run in self.json("/agreement/", admin) if not run["interim"]]
            return bool(found)

        wait_for(final, what="the worker did not compute the closed draw")
        return found[-1]["result"]


@pytest.fixture
def stack(tmp_path: Path) -> Any:
    with Stack(tmp_path) as running:
        yield running


def read_pairs() -> dict[tuple[str, ...], dict[str, int]]:
    rows = map(json.loads, PAIRS.read_text(encoding="utf-8").splitlines())
    return {(row["question_1"], row["question_2"]): row["ratings"] for row in rows}


def check_pairs(
    result: dict[str, Any], expected: dict[str, Any], names: dict[str, str], statistics: dict[str, str]
) -> None:
    """Every pair's n, agreement, kappa, standard error and weighted kappas, matched by who rated."""
    checked = 0
    for pair in result["pairs"]:
        key = "|".join(sorted(RATERS[names[rater]] for rater in pair["raters"]))
        wanted = expected["pairs"][key]
        kappa = pair["statistics"]["cohen_kappa"]
        assert pair["n"] == wanted["n"] == 500
        assert kappa["observed"] == pytest.approx(wanted["po"], abs=1e-9)
        assert kappa["se"] == pytest.approx(wanted["ase"], abs=1e-9)
        for ours, theirs in statistics.items():
            assert pair["statistics"][ours]["value"] == pytest.approx(wanted[theirs], abs=1e-9)
        checked += 1
    assert checked == 6


def names_of(replay: Replay) -> dict[str, str]:
    status, body = replay.visitor("ada").get(f"{replay.api}/members/")
    assert status == 200
    return {member["uuid"]: member["name"] for member in json.loads(body)["results"]}


def test_eleven_points_by_four_people_then_the_way_back_into_the_guideline(stack: Stack) -> None:
    ratings = read_pairs()
    replay = Replay(stack, "ordinal", [(str(step), str(step), float(step)) for step in range(-5, 6)])
    replay.load(PAIRS, "--metadata", "split")
    status, page = replay.open_wave()
    assert status == 200, text_of(page)

    assert replay.label_all(lambda name, texts: str(ratings[texts][RATERS[name]])) == 2000

    result, expected = replay.figures(), REFERENCE["paraphrase_11_point"]
    weighted = {
        "cohen_kappa": "cohen_kappa",
        "weighted_kappa_linear": "kappa_linear",
        "weighted_kappa_quadratic": "kappa_quadratic",
    }
    check_pairs(result, expected, names_of(replay), weighted)
    for scale in ("nominal", "ordinal", "interval"):
        value = result["statistics"][f"krippendorff_alpha_{scale}"]["value"]
        assert value == pytest.approx(expected[f"alpha_{scale}"], abs=1e-9)
    assert result["statistics"]["fleiss_kappa"]["value"] == pytest.approx(expected["fleiss_kappa"], abs=1e-9)
    assert result["headline"]["key"] == "krippendorff_alpha_ordinal"
    adjudicate(replay, examples=3)
    publish(replay)
    refuse_then_draw_from_fresh_pairs_alone(replay)


def adjudicate(replay: Replay, *, examples: int) -> None:
    """The lead decides the first conflicts of the queue in the page, and makes examples of them."""
    for number in range(examples + 2):
        status, page = replay.lead.get(f"{replay.base}/adjudication/next/")
        assert status == 200, text_of(page)
        case = re.search(r"/adjudication/([0-9a-f-]{36})/resolve/", page)
        assert case is not None
        assert not any(name in text_of(page).split() for name in RATERS), "a rater is named while the case is open"
        sent = form_in(page, "/resolve/") | {
            "value": "0",
            "rationale": f"Neither the same nor another: {number}.",
            "cause": "guideline_silent",
        }
        if number < examples:
            sent["as_example"] = "on"
        status, page = replay.lead.post(f"{replay.base}/adjudication/{case[1]}/resolve/", sent)
        assert status == 200, text_of(page)
    decided = replay.json("/conflicts/?state=decided")["results"]
    assert len(decided) == examples + 2


def publish(replay: Replay) -> None:
    path = f"{replay.base}/guideline/draft/publish/"
    _status, page = replay.lead.get(path)
    sent = form_in(page, "/publish/") | {"change": "material", "reason": "Three examples of the middle of the scale."}
    status, page = replay.lead.post(path, sent)
    assert status == 200, text_of(page)
    newest = replay.json("/versions/")["results"][0]
    assert newest["number"] == "2.0"
    assert len(replay.json(f"/versions/{newest['uuid']}/")["examples"]) == 3


def refuse_then_draw_from_fresh_pairs_alone(replay: Replay) -> None:
    status, page = replay.open_wave()
    said = text_of(page)
    assert status == 409
    assert "No fresh item is left and this wave needs 1: import 1 more" in said
    assert "5 × its conflict was adjudicated" in said
    assert "495 × rated before" in said
    replay.load(FRESH)
    status, page = replay.open_wave()
    assert status == 200, text_of(page)
    wave = replay.json("/waves/")["results"][0]
    assert (wave["size"], wave["version"], wave["draw"]["size"]) == (60, "2.0", 60)
    drawn = replay.stack.shell(
        "from annotations.models import WaveItem\n"
        "print(sorted(WaveItem.objects.filter(wave__number=2).values_list('item__external_id', flat=True)))"
    )
    wanted = sorted(json.loads(line)["id"] for line in FRESH.read_text(encoding="utf-8").splitlines())
    assert drawn == str(wanted)


def test_the_sign_as_three_classes(stack: Stack) -> None:
    ratings = read_pairs()
    replay = Replay(stack, "nominal", [("minus", "-1", None), ("zero", "0", None), ("plus", "1", None)])
    replay.load(PAIRS)
    status, page = replay.open_wave()
    assert status == 200, text_of(page)

    def sign(name: str, texts: tuple[str, ...]) -> str:
        rating = ratings[texts][RATERS[name]]
        return "zero" if rating == 0 else "plus" if rating > 0 else "minus"

    assert replay.label_all(sign) == 2000

    result, expected = replay.figures(), REFERENCE["paraphrase_sign_3_class"]
    check_pairs(result, expected, names_of(replay), {"cohen_kappa": "cohen_kappa"})
    assert result["statistics"]["krippendorff_alpha_nominal"]["value"] == pytest.approx(
        expected["alpha_nominal"], abs=1e-9
    )
    assert result["statistics"]["fleiss_kappa"]["value"] == pytest.approx(expected["fleiss_kappa"], abs=1e-9)
