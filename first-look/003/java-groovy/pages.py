# writes the shop's pages, one Groovy script each, and the list of their names
import os, sys
folder, n = sys.argv[1], int(sys.argv[2])
os.makedirs(folder, exist_ok=True)
for i in range(n):
    out = ["def rows = []"]
    for k in range(2):
        out.append(f"class Box{i}_{k} {{ String title = 'box {k}'; int width = {k + 10}\n  String html(int n) {{ (1..2).collect {{ r -> \"<td w=${{width + r + n}}>${{title}}</td>\" }}.join('') }} }}")
        out.append(f"rows << new Box{i}_{k}().html({i})")
    out.append("return \"<table>${rows.join('<tr>')}</table> of page ${page}\\n\"")
    open(f"{folder}/page{i}.groovy", "w").write("\n".join(out) + "\n")
open(folder + "/names.txt", "w").write("\n".join(str(i) for i in range(n)) + "\n")
