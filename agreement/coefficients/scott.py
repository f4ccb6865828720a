"""Scott's pi of two raters, which is Siegel & Castellan's K and Fleiss' kappa for two."""

from __future__ import annotations

from agreement.coefficients import influence
from agreement.coefficients.estimate import Estimate, undefined
from agreement.coefficients.fleiss import fleiss_kappa_gwet, fleiss_statistic
from agreement.coefficients.ratings import Ratings
from agreement.coefficients.statistic import off_diagonal


def scott_pi(ratings: Ratings) -> Estimate:
    """Scott's pi: chance agreement from the label shares of both raters together, on complete pairs.

    References
    ----------
    Scott 1955, doi:10.1086/266577; Siegel & Castellan 1988
    """
    if ratings.n_raters != 2:
        raise ValueError(f"Scott's pi compares two raters, not {ratings.n_raters}; for several see siegel_castellan_k.")
    return fleiss_kappa_gwet(ratings)


def scott_se(ratings: Ratings) -> Estimate:
    """The standard error of Scott's pi from influence values."""
    return influence.standard_error(fleiss_statistic(off_diagonal(ratings.n_labels)), ratings)


def expected_agreement(ratings: Ratings) -> Estimate:
    """The agreement that these pooled label shares would reach by chance."""
    pairs = ratings.comparable()
    if not pairs.n_paired:
        return undefined("no_pairs")
    shares = pairs.used() / pairs.used().sum()
    return Estimate(float(shares @ shares), n=pairs.n_paired)


def siegel_castellan_k(ratings: Ratings) -> Estimate:
    """Siegel & Castellan's K, the several-rater form of pi: Fleiss' kappa under another name."""
    return fleiss_kappa_gwet(ratings)
