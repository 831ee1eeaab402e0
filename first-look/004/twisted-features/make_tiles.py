"""Writes the map tiles (GeoJSON) that the server serves from."""
import json, os, random, sys
out = sys.argv[1]
os.makedirs(out, exist_ok=True)
rnd = random.Random(4)
for n in range(400):
    features = []
    for i in range(100):
        x, y = rnd.uniform(5, 15), rnd.uniform(45, 55)
        ring = [[round(x + rnd.random() / 100, 5), round(y + rnd.random() / 100, 5)] for _ in range(45)]
        features.append({"type": "Feature", "id": i, "properties": {"name": f"plot {n}-{i}", "use": "field"},
                         "geometry": {"type": "Polygon", "coordinates": [ring]}})
    with open(f"{out}/{n}.json", "w") as f:
        json.dump({"type": "FeatureCollection", "features": features}, f)
