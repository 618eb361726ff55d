"""Saves the images and tables of a FITS file: from_fits.py FILE DIRECTORY"""

import sys

from astropy.io import fits

from save import save, save_attributes

source, directory = sys.argv[1:]
LAYOUT = {"SIMPLE", "XTENSION", "BITPIX", "EXTEND", "PCOUNT", "GCOUNT", "TFIELDS", "BUNIT", ""}


def attributes(header):
    cards = {card.keyword: card.value for card in header.cards}
    layout = LAYOUT | {key for key in cards if key.startswith(("NAXIS", "TTYPE", "TFORM", "TUNIT"))}
    return {key: value for key, value in cards.items() if key not in layout}


def native(array):
    return array.astype(array.dtype.newbyteorder("="))


with fits.open(source) as data:
    for number, unit in enumerate(data):
        name = unit.name.lower() or f"hdu{number}"
        attrs = attributes(unit.header)
        if isinstance(unit, fits.BinTableHDU):
            for column in unit.columns:
                units = {"units": column.unit} if column.unit else {}
                save(directory, f"{name}/{column.name}", native(unit.data[column.name]), (), units)
        elif unit.data is not None:
            if "BUNIT" in unit.header:
                attrs["units"] = unit.header["BUNIT"]
            save(directory, name, native(unit.data), (), attrs)
    save_attributes(directory, attributes(data[0].header))
