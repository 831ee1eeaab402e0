#!/usr/bin/env python3
"""The catalogue of a town library as one XML file: 8000 titles, four copies each."""
import random
r = random.Random(4)
words = "river winter stone garden letter island house night road summer glass silver northern quiet broken".split()
print("<library>")
n = 0
for t in range(8000):
    print(f'<title isbn="978{t:09d}"><name>The {r.choice(words)} {r.choice(words)} {t}</name><shelf>{r.choice("ABCDEF")}{r.randrange(90)}</shelf>')
    for c in range(4):
        print(f'<copy barcode="B{n:07d}" state="{r.choice(["in","in","out"])}"><branch>{r.choice(["Centre","Harbour","West"])}</branch><bought>20{r.randrange(10,24)}-0{r.randrange(1,10)}-11</bought></copy>')
        n += 1
    print("</title>")
print("</library>")
