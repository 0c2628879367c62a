"""Additive rules: parities, check digits, modular sums and totals of any number of columns, found by algebra.

A rule says that f0 + f1(x1) + ... + fm(xm) is 0 modulo p, where each f is some function of a column's levels.
Write every column as indicators of its levels. Then the unknown values of the functions are the unknowns of a
linear system over GF(p), the numbers modulo p: each row of the table is one equation, and the rules are what
solves all of them, the *null space* of the table. One elimination finds them all, whatever their number of
columns; no set of columns is ever enumerated.

An example. Three bits with x3 = x1 xor x2 have four unknowns: f0 and one value for each column. The rows
(0,0,0), (0,1,1), (1,0,1), (1,1,0) are the equations f0 = 0, f0 + f2 + f3 = 0, f0 + f1 + f3 = 0, f0 + f1 + f2 =
0 modulo 2. They leave one solution beside zero: f0 = 0, f1 = f2 = f3 = 1, the parity.

How the parts follow one another:

    coding.py        columns -> unknowns: one weight for a column of numbers, one value for each level otherwise
    elimination.py   what solves all of some rows, and what solves almost all of them
    plain.py         the same steps in NumPy for small systems; _dense.py and _packed.py are compiled
    meeting.py       noisy parities of few among many binary columns
    sparse.py        of all that solves the rows, solutions of few columns
    candidate.py     a solution as functions of levels; levels that were too rare to be unknowns
    sums.py          how often a sum is zero, were some of its columns independent
    drawn.py         how often it is zero in rows that obey other rules
    evidence.py      how often it would hold by chance, and the p-value with all rules that were in question
    span.py          what follows from rules already found
    relations.py     whole-number relations told as what they are: functions, totals, exactly one of these
    merging.py       the same columns modulo 2 and 5 as one rule modulo 10
    schemes.py       known schemes: Luhn, EAN, ISBN, IBAN
    finding.py       find_rules(): all of it in order
    repair.py        rows that break a rule, and the smallest change that repairs each
"""
