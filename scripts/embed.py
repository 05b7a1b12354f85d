"""Write the trained tables as C++, which the builds compile with the kernels.

    python scripts/embed.py FILE

Each ``kernels/shared/tables/some_name.bin`` becomes an array ``kSomeName``, as
``kernels/shared/tables.h`` declares it.
"""

import sys
from pathlib import Path

TABLES = Path(__file__).parents[1] / "kernels" / "shared" / "tables"

arrays = []
for path in sorted(TABLES.glob("*.bin")):
    name = path.stem.title().replace("_", "")
    arrays.append(f"const uint8_t k{name}[] = {{{','.join(map(str, path.read_bytes()))}}};\n")
text = f'#include "shared/tables.h"\n\nnamespace mmp {{\n{"".join(arrays)}}}\n'
Path(sys.argv[1]).write_text(text)
