"""The share is exact over any sequence of waves, as they are really opened (DESIGN §3 "Share")."""

import random
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from math import floor

import pytest

from annotations import draws, releasing, verifying
from annotations.models import Draw, Wave, WaveItem
from projects.models import GuidelineVersion, Item, Membership, Project
from tests import factories

AT = factories.NOW
SOURCES = ["mail", "chat", "phone", "shop"]


def release(project: Project, lead: Membership, size: int, share: str, sources: list[str] | None = None) -> Wave:
    metadata = [{"source": source} for source in sources] if sources else None
    factories.items(project, size, prefix=f"n{Item.objects.count()}", metadata=metadata)
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(share))


def exact(share: str, released: int) -> int:
    """Half up, without a float."""
    return floor(Fraction(share) / 100 * released + Fraction(1, 2))


@pytest.mark.parametrize("share", ["10", "33.333", "0.5", "99.999", "100", "50"])
def test_the_total_is_exact_after_every_wave_of_any_size(project, lead, share):
    rng = random.Random(share)
    released = drawn = 0
    for _ in range(14):
        size = rng.choice([1, 1, 2, 3, 4, 7, 15, 40])
        drawn += release(project, lead, size, share).draw.size
        released += size

        assert drawn == exact(share, released) == WaveItem.objects.filter(draw__isnull=False).count()


def test_every_share_counts_for_itself_whatever_comes_in_between(project, lead):
    """A pilot at 100 %, unmeasured waves and another share use nothing of each other up."""
    rng = random.Random(5)
    released: Counter[str] = Counter()
    drawn: Counter[str] = Counter()
    for _ in range(18):
        share, size = rng.choice(["10", "10", "20", "100", "0"]), rng.randint(1, 12)
        wave = release(project, lead, size, share)
        released[share] += size
        drawn[share] += wave.wave_items.filter(draw__isnull=False).count()
        assert hasattr(wave, "draw") == (share != "0")

    assert dict(drawn) == {share: exact(share, n) for share, n in released.items()}


def test_a_new_major_begins_anew(project, lead):
    sizes = [release(project, lead, 4, "10").draw.size for _ in range(3)]
    factories.version(project, 2, 0)
    sizes += [release(project, lead, 4, "10").draw.size for _ in range(3)]

    assert sum(sizes[:3]) == sum(sizes[3:]) == 1


def test_a_wave_of_a_set_size_counts_only_what_it_releases(project, lead):
    factories.items(project, 100)
    drawn = [
        releasing.open_wave(project, by=lead, at=AT, size=5, share_percent=Decimal(10)).draw.size for _ in range(20)
    ]

    assert sum(drawn) == 10
    assert max(drawn) == 1


@pytest.mark.parametrize("seed", range(4))
def test_strata_stay_within_three_and_the_total_is_exact(project, lead, seed):
    """Batches of any mixture in which every stratum has items enough."""
    project.protocol |= {"strata_field": "source"}
    project.save()
    rng = random.Random(seed)
    released: Counter[str] = Counter()
    share = rng.choice(["10", "20", "33.333"])
    for _ in range(12):
        sources = [source for source in SOURCES for _ in range(rng.randint(2, 9))]
        rng.shuffle(sources)
        release(project, lead, len(sources), share, sources)
        released.update(sources)

        drawn = Counter(WaveItem.objects.filter(draw__isnull=False).values_list("stratum", flat=True))
        assert drawn.total() == exact(share, released.total())
        for source, n in released.items():
            assert abs(drawn[source] - Fraction(share) / 100 * n) < 3, f"{source}: {drawn[source]} of {n}"


def test_probabilities_are_those_of_the_draw(project, lead):
    """Each item keeps the probability with which it was drawn: what was drawn of its stratum by what there was."""
    project.protocol |= {"strata_field": "source"}
    project.save()
    wave = release(project, lead, 40, "25", ["mail"] * 31 + ["chat"] * 9)

    for source, there in (("mail", 31), ("chat", 9)):
        rows = wave.wave_items.filter(stratum=source)
        drawn = rows.filter(draw__isnull=False).count()
        assert set(rows.values_list("probability", flat=True)) == {drawn / there}


def test_the_sample_is_what_the_record_replays_for_every_wave(project, lead):
    project.protocol |= {"strata_field": "source"}
    project.save()
    for size in (1, 5, 30):
        release(project, lead, size, "40", [SOURCES[i % 4] for i in range(size)])
    for draw in Draw.objects.all():
        draws.close(draw, closing="early", reason="to replay it", by=lead, at=AT)

    assert [verifying.verify(draw).same for draw in Draw.objects.all()] == [True] * 3


def test_seeds_are_the_servers_own_and_never_the_same(project: Project, version: GuidelineVersion, lead: Membership):
    for size in (3, 3, 3):
        release(project, lead, size, "50")

    assert len({bytes(draw.seed) for draw in Draw.objects.all()}) == 3
    assert len({draw.commitment for draw in Draw.objects.all()}) == 3
    assert {len(bytes(draw.seed)) for draw in Draw.objects.all()} == {32}
