"""Where static files come from: hashed names, also inside the `import` lines of our own ES modules."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Pages and modules name the hashed files only, so that a browser may keep each of them for ever.

    Django's own rewriting of imports also looks into minified libraries, and stumbles over what only looks like one.
    Ours stand at the start of a line: `import { a, b } from "./c.js";`
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        (
            "*.js",
            (
                (
                    r"""(?m)^(?P<matched>import (?P<names>\{[^}]*\}|\* as \w+) from "(?P<url>\.\.?/[^"]+)";)$""",
                    """import %(names)s from "%(url)s";""",
                ),
            ),
        ),
    )
