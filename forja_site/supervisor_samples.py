"""A workspace with something in it, so that the first script has real files to read."""

from __future__ import annotations

from pathlib import Path

SAMPLES = {
    "README.md": (
        "# Your first workspace\n\n"
        "Scripts see this folder through the file tools. `sales.csv` holds a few rows to count with,\n"
        "`notes/` three short texts to search. Replace them with your own files whenever you like.\n"
    ),
    "sales.csv": (
        "region,month,units,price\n"
        "north,2026-01,120,9.50\n"
        "north,2026-02,98,9.50\n"
        "south,2026-01,210,8.75\n"
        "south,2026-02,264,8.75\n"
        "east,2026-01,57,11.00\n"
        "east,2026-02,61,11.00\n"
        "west,2026-01,143,9.95\n"
        "west,2026-02,139,9.95\n"
    ),
    "notes/monday.md": "# Monday\n\nTODO: ask the north about February, units went down.\nThe east raised its price.\n",
    "notes/tuesday.md": "# Tuesday\n\nThe south sold 264 units, its best month.\nTODO: order more boxes.\n",
    "notes/wednesday.md": "# Wednesday\n\nNothing to do today. Señal de prueba: ¡todo en orden!\n",
}


def fill_workspace(folder: Path) -> None:
    """Make the folder with its samples; one that exists is left as it is."""
    if folder.exists():
        return
    folder.mkdir(mode=0o700)
    for name, text in SAMPLES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
