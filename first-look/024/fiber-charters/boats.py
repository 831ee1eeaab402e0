import json, random, sys
random.seed(31)
words = "calm bay gaff teak mast keel wind reef hull spar cabin bright dry roomy fast stern light long white oak deck".split()
boats = []
for i in range(1, 241):
    boats.append({
        "id": i, "name": random.choice(["Alba", "Mira", "Nora", "Vela", "Stella", "Wega", "Fjord"]) + " %d" % i,
        "type": random.choice(["sloop", "ketch", "catamaran", "motor yacht"]), "port": random.choice(["Kiel", "Split", "Palma", "Bodrum"]),
        "berths": random.randint(2, 12), "length": round(random.uniform(7, 19), 1),
        "extras": random.sample(["dinghy", "bimini", "heater", "spinnaker", "plotter", "bow thruster"], 3),
        "text": " ".join(random.choice(words) for _ in range(160)),
    })
json.dump(boats, open(sys.argv[1], "w"))
