#!/usr/bin/env python3
"""Writes the SKOS thesaurus: 6000 concepts of a regional library."""
import random

rng = random.Random(6)
words = "river mill bridge market saddle harbour linen orchard bell candle ferry forge hedge lantern meadow".split()
print("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .")
print("@prefix c: <http://thesaurus.example.org/c/> .")
for n in range(1, 6001):
    print("c:%d a skos:Concept ; skos:prefLabel \"%s %s %d\"@en ; skos:notation \"%05d\" ; skos:broader c:%d , c:%d ." % (
        n, rng.choice(words), rng.choice(words), n, n, max(1, n // 8), max(1, n // 20)))
