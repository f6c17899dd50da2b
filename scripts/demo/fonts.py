# SPDX-License-Identifier: Apache-2.0
"""The fonts the demo's characters are drawn with: all openly licensed, all Debian packages.

A family belongs to exactly one part, so that no typeface of the test pictures was seen in training, and
none of those that chose the settings (validation) is tested on.
"""

from dataclasses import dataclass
from pathlib import Path

OFL = "OFL-1.1"
OFL_1_0 = "OFL-1.0"
APACHE = "Apache-2.0"
VERA = "Bitstream-Vera"


@dataclass(frozen=True)
class Family:
    """One type family: where it comes from and the files used, relative to the font folder."""

    name: str
    licence: str
    package: str
    files: tuple[str, ...]


def _family(name: str, licence: str, package: str, folder: str, *files: str) -> Family:
    return Family(name, licence, package, tuple(f"{folder}/{file}" for file in files))


TRAINING = (
    _family("DejaVu Sans", VERA, "fonts-dejavu-core", "truetype/dejavu", "DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    _family("DejaVu Serif", VERA, "fonts-dejavu-core", "truetype/dejavu", "DejaVuSerif.ttf", "DejaVuSerif-Bold.ttf"),
    _family("DejaVu Sans Mono", VERA, "fonts-dejavu-core", "truetype/dejavu", "DejaVuSansMono.ttf"),
    _family("Liberation Serif", OFL, "fonts-liberation2", "truetype/liberation2", "LiberationSerif-Regular.ttf",
            "LiberationSerif-Italic.ttf"),
    _family("Noto Sans", OFL, "fonts-noto-core", "truetype/noto", "NotoSans-Regular.ttf", "NotoSans-Bold.ttf",
            "NotoSans-Italic.ttf"),
    _family("Noto Serif", OFL, "fonts-noto-core", "truetype/noto", "NotoSerif-Regular.ttf", "NotoSerif-BoldItalic.ttf"),
    _family("Lato", OFL, "fonts-lato", "truetype/lato", "Lato-Regular.ttf", "Lato-Black.ttf", "Lato-LightItalic.ttf"),
    _family("Carlito", OFL, "fonts-crosextra-carlito", "truetype/crosextra", "Carlito-Regular.ttf",
            "Carlito-BoldItalic.ttf"),
    _family("Roboto Slab", APACHE, "fonts-roboto-slab", "opentype/roboto/slab", "RobotoSlab-Regular.otf",
            "RobotoSlab-Bold.otf"),
    _family("Inconsolata", OFL_1_0, "fonts-inconsolata", "truetype/inconsolata", "Inconsolata.otf"),
    _family("Comfortaa", OFL, "fonts-comfortaa", "truetype/comfortaa", "Comfortaa-Regular.ttf", "Comfortaa-Bold.ttf"),
    _family("Cantarell", OFL, "fonts-cantarell", "opentype/cantarell", "Cantarell-Regular.otf",
            "Cantarell-ExtraBold.otf"),
    _family("Comic Neue", OFL, "fonts-comic-neue", "opentype/comic-neue", "ComicNeue-Regular.otf",
            "ComicNeue-BoldItalic.otf"),
    _family("Dosis", OFL, "fonts-dosis", "opentype/dosis", "Dosis-Medium.otf", "Dosis-ExtraBold.otf"),
    _family("Quicksand", OFL, "fonts-quicksand", "truetype/quicksand", "Quicksand-Regular.ttf", "Quicksand-Bold.ttf"),
    _family("Fira Code", OFL, "fonts-firacode", "truetype/firacode", "FiraCode-Regular.ttf", "FiraCode-Bold.ttf"),
    _family("EB Garamond", OFL, "fonts-ebgaramond", "opentype/ebgaramond", "EBGaramond12-Regular.otf",
            "EBGaramond12-Italic.otf", "EBGaramond12-Bold.otf"),
    _family("GFS Didot", OFL, "fonts-gfs-didot", "opentype/didot", "GFSDidot.otf", "GFSDidotBold.otf"),
    _family("Manrope", OFL, "fonts-manrope", "truetype/manrope", "Manrope-Regular.ttf", "Manrope-ExtraBold.ttf"),
    _family("Junction", OFL, "fonts-junction", "opentype/junction", "Junction.otf"),
    _family("Leckerli One", OFL, "fonts-leckerli-one", "truetype/leckerli-one", "LeckerliOne-Regular.ttf"),
)

VALIDATION = (
    _family("Karla", OFL, "fonts-karla", "truetype/karla", "Karla-Regular.otf", "Karla-BoldItalic.otf"),
    _family("Courier Prime", OFL, "fonts-courier-prime", "opentype/courier-prime", "Courier Prime.otf",
            "Courier Prime Bold.otf"),
    _family("Cabin", OFL, "fonts-cabin", "opentype/cabin", "Cabin-Regular.otf", "Cabin-Bold.otf"),
    _family("Mononoki", OFL, "fonts-mononoki", "truetype/mononoki", "mononoki-Regular.ttf", "mononoki-Bold.ttf"),
)

TEST = (
    _family("Caladea", OFL, "fonts-crosextra-caladea", "truetype/crosextra", "Caladea-Regular.ttf",
            "Caladea-BoldItalic.ttf"),
    _family("JetBrains Mono", APACHE, "fonts-jetbrains-mono", "truetype/jetbrains-mono", "JetBrainsMono-Regular.ttf",
            "JetBrainsMono-Bold.ttf"),
    _family("Jura", OFL, "fonts-jura", "opentype/jura", "Jura-Medium.otf", "Jura-Bold.otf"),
    _family("League Spartan", OFL, "fonts-league-spartan", "opentype/league-spartan", "LeagueSpartan-Medium.otf",
            "LeagueSpartan-Bold.otf"),
    _family("Lobster", OFL, "fonts-lobster", "opentype/lobster", "lobster.otf"),
    _family("Open Sans", APACHE, "fonts-open-sans", "truetype/open-sans", "OpenSans-Regular.ttf",
            "OpenSans-ExtraBoldItalic.ttf"),
    _family("Play", OFL, "fonts-play", "truetype/play", "Play-Regular.ttf", "Play-Bold.ttf"),
    _family("Vollkorn", OFL, "fonts-vollkorn", "truetype/vollkorn", "Vollkorn-Regular.ttf", "Vollkorn-BlackItalic.ttf"),
)


def paths(families: tuple[Family, ...], folder: Path) -> list[Path]:
    """Every file of `families` under `folder`; a missing one is an error that names its package."""
    found = []
    for family in families:
        for file in family.files:
            path = folder / file
            if not path.is_file():
                raise SystemExit(f"{path} is missing: install the Debian package {family.package}")
            found.append(path)
    return found
