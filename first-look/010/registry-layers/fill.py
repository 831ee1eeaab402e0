# fill.py DIR: the files of a registry with one image of eight layers, as a push leaves them
import hashlib, json, os, random, sys

root = os.path.join(sys.argv[1], "docker/registry/v2")
repo = os.path.join(root, "repositories/shop/web")
random.seed(10)


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def blob(data):
    h = hashlib.sha256(data).hexdigest()
    write(f"{root}/blobs/sha256/{h[:2]}/{h}/data", data)
    return h


def desc(data, kind):
    h = blob(data)
    write(f"{repo}/_layers/sha256/{h}/link", f"sha256:{h}".encode())
    return {"mediaType": f"application/vnd.docker.{kind}", "size": len(data), "digest": f"sha256:{h}"}


layers = [desc(random.randbytes(60000 + 30000 * i), "image.rootfs.diff.tar.gzip") for i in range(8)]
config = desc(json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": [d["digest"] for d in layers]}}).encode(), "container.image.v1+json")
manifest = json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", "config": config, "layers": layers}).encode()
m = blob(manifest)
for p in (f"revisions/sha256/{m}", "tags/1.4/current", f"tags/1.4/index/sha256/{m}"):
    write(f"{repo}/_manifests/{p}/link", f"sha256:{m}".encode())
for d in layers:
    print(d["digest"], d["size"])
