# parcels.py FOLDER: a shapefile of 40 000 parcels
import random, sys, shapefile
random.seed(7)
with shapefile.Writer(sys.argv[1] + "/parcels", shapeType=shapefile.POLYGON) as w:
    w.field("owner", "C", 20)
    j = lambda v: v + random.uniform(-1.4, 1.4)
    for x in range(0, 1000, 5):
        for y in range(0, 1000, 5):
            ring = [(j(x), j(y)), (j(x), j(y + 5)), (j(x + 5), j(y + 5)), (j(x + 5), j(y))]
            w.poly([ring + ring[:1]])
            w.record("owner %d" % random.randrange(9000))
