"""Sixty formats of python-stdnum with an additive rule, or one but for a folded remainder.

The list was fixed before anything was measured. Left out on purpose are formats that no additive rule
describes (Verhoeff, Damm, ISO 7064 hybrid systems, the Swiss ESR table, weights that depend on the
remainder) and moduli that are powers of a prime. A folded remainder, such as (sum mod 11) mod 10, is a rule
that about one row in eleven breaks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np

DIGITS = "0123456789"
ALNUM = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its module, how many characters come before the check, what they are, and the modulus.

    ``how`` is "end" where the module computes one check character, "digits" for several, "front" where
    they come first, and "filter" where it computes a checksum that must be ``wanted``. "whole" is as
    "end", for a module that asks for the number with some check character in its place.
    """

    module: str
    length: int
    modulus: int
    how: str = "end"
    wanted: int = 0
    alphabet: str = DIGITS

    def numbers(self, n: int, generator: np.random.Generator) -> list[str]:
        """Return random numbers with right check characters, all of one width."""
        library = import_module(f"stdnum.{self.module}")
        found: list[str] = []
        width = 0
        while len(found) < n:
            body = "".join(generator.choice(list(self.alphabet), size=self.length))
            number = self._completed(library, body)
            if number is not None:
                width = width or len(number)
                if len(number) == width:
                    found.append(number)
        return found

    def _completed(self, library: object, body: str) -> str | None:
        if self.how == "filter":
            checksum: Callable[[str], int] = library.checksum  # type: ignore[attr-defined]
            return body if checksum(body) == self.wanted else None
        is_one = self.how in ("end", "whole")
        try:
            calculate = getattr(library, "calc_check_digit" if is_one else "calc_check_digits")
            check = str(calculate(body + "0" if self.how == "whole" else body))
        except (ValueError, KeyError, IndexError):
            return None
        if is_one and len(check) != 1:
            return None
        return check + body if self.how == "front" else body + check


FORMATS = (
    Format("luhn", 15, 10),
    Format("ean", 12, 10),
    Format("issn", 7, 11),
    Format("casrn", 9, 10),
    Format("us.rtn", 8, 10),
    Format("iso7064.mod_97_10", 18, 97, "digits"),
    Format("iso7064.mod_11_2", 15, 11),
    Format("iso7064.mod_37_2", 12, 37, alphabet=ALNUM),
    Format("ar.cuit", 10, 11),
    Format("at.uid", 7, 10),
    Format("au.acn", 8, 10),
    Format("au.tfn", 9, 11, "filter"),
    Format("au.abn", 9, 89, "front"),
    Format("be.ogm_vcs", 10, 97, "digits"),
    Format("bg.egn", 9, 11),
    Format("bg.pnf", 9, 10),
    Format("by.unp", 8, 11),
    Format("ca.bc_phn", 9, 11),
    Format("ch.uid", 8, 11),
    Format("cl.rut", 8, 11),
    Format("cn.ric", 17, 11),
    Format("co.nit", 9, 11),
    Format("cusip", 8, 10),
    Format("dk.cpr", 10, 11, "filter"),
    Format("dk.cvr", 8, 11, "filter"),
    Format("do.rnc", 8, 11),
    Format("ee.kmkr", 9, 10, "filter"),
    Format("es.dni", 8, 23),
    Format("eu.ecnumber", 6, 11),
    Format("fi.alv", 8, 11, "filter"),
    Format("fr.nir", 13, 97, "digits"),
    Format("gb.nhs", 10, 11, "filter"),
    Format("gb.sedol", 6, 10),
    Format("gb.utr", 9, 11),
    Format("gr.vat", 8, 11),
    Format("gt.nit", 8, 11),
    Format("hu.anum", 8, 10, "filter"),
    Format("imo", 6, 10),
    Format("is_.kennitala", 10, 11, "filter"),
    Format("it.aic", 8, 10),
    Format("jp.in_", 11, 11),
    Format("kr.rrn", 12, 11),
    Format("lu.tva", 6, 89, "digits"),
    Format("md.idno", 12, 10),
    Format("me.pib", 7, 11),
    Format("mk.edb", 12, 11),
    Format("mt.vat", 8, 37, "filter"),
    Format("mz.nuit", 8, 11),
    Format("nl.bsn", 9, 11, "filter"),
    Format("no.orgnr", 9, 11, "filter"),
    Format("pe.ruc", 10, 11),
    Format("pl.nip", 10, 11, "filter"),
    Format("pl.pesel", 10, 10),
    Format("pl.regon", 8, 11),
    Format("pt.nif", 8, 11),
    Format("ru.ogrn", 12, 11, "whole"),
    Format("si.ddv", 7, 11),
    Format("sk.dph", 10, 11, "filter"),
    Format("th.pin", 12, 11),
    Format("vn.mst", 9, 11),
)
