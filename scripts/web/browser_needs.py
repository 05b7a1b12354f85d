"""Check what the tests in a browser need, and fetch Chromium by Playwright if there is none.

    python scripts/web/browser_needs.py

The script names what is missing, and how to install it; then it exits with 1.
"""

import shutil
import subprocess
import sys

from chromium import chromium

NPM = "npm, which fetches OpenSeadragon: apt-get install npm, or see https://nodejs.org"


def main() -> int:
    """Return 0 if nothing is missing."""
    missing = []
    if chromium() is None:
        print("There is no Chromium; Playwright fetches its own.", flush=True)
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        if subprocess.run(command, check=False).returncode or chromium() is None:
            missing.append("Chromium: apt-get install chromium")
    if shutil.which("npm") is None:
        missing.append(NPM)
    for each in missing:
        print(f"The tests in a browser need {each}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
