"""The Content-Security-Policy of pages that need nothing else: their own scripts run, and nothing is loaded or sent.

The policy has the hash of the text of each script [CSP Level 3 §2.3.1]. Markup that a name or a text brought into a
page would be inert: no other script runs, not in attributes either, and no address is reached.
"""

from __future__ import annotations

import base64
import hashlib

__all__ = ["policy"]


def policy(*scripts: str, engine: bool = False) -> str:
    """Return the element of the page's head, before anything that it governs.

    Parameters
    ----------
    scripts : str
        The texts of the page's scripts, as they stand between their tags.
    engine : bool
        True for a page that runs WebAssembly in workers, which it makes of its own text.
    """
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = [f"'sha256-{one}'" for one in hashes] + (["'wasm-unsafe-eval'"] if engine else [])
    rules = [
        "default-src 'none'",
        f"script-src {' '.join(allowed)}",
        "style-src 'unsafe-inline'",  # colors and sizes are attributes of elements
        "img-src data:",  # the icon, and figures on their way to a PNG
        *(["worker-src blob:"] if engine else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'
