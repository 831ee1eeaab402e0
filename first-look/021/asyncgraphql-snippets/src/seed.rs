use crate::Stored;

const PYTHON: &str = r#"import csv
from pathlib import Path

def totals(path: Path) -> dict[str, int]:
    """Sum of pieces by article."""
    result: dict[str, int] = {}
    with path.open(newline="") as f:
        for row in csv.DictReader(f):
            result[row["article"]] = result.get(row["article"], 0) + int(row["pieces"])
    return result
"#;

const YAML: &str = r#"job: nightly-import
schedule: "15 2 * * *"
steps:
  - name: fetch
    run: ./fetch --since yesterday
  - name: load
    run: ./load --table orders
    retries: 3
notify: [ops, "{name}"]
"#;

const GO: &str = r#"package stock

import "fmt"

// Total sums the pieces of all shelves.
func Total(shelves []Shelf) (sum int) {
	for _, s := range shelves {
		sum += s.Pieces
	}
	fmt.Println(sum, "pieces")
	return
}
"#;

const JSON: &str = r#"{
  "service": "{name}",
  "ports": [8080, 8081],
  "limits": {"memory": "512Mi", "cpu": 0.5},
  "probes": {"ready": "/health", "period": 5, "failures": null}
}
"#;

pub fn authors() -> Vec<(String, String, String)> {
    ["ada", "bo", "cleo", "dino", "eva"]
        .iter()
        .enumerate()
        .map(|(n, id)| {
            let team = if n % 2 == 0 { "platform" } else { "shop" };
            (
                id.to_string(),
                format!("{}{}", id[..1].to_uppercase(), &id[1..]),
                team.to_string(),
            )
        })
        .collect()
}

pub fn snippets() -> Vec<Stored> {
    let people = authors();
    (0..40)
        .map(|n| {
            let (extension, code) =
                [("py", PYTHON), ("yaml", YAML), ("go", GO), ("json", JSON)][n % 4];
            Stored {
                id: format!("s{n}"),
                title: format!("snippet {n}"),
                extension,
                code: code.replace("{name}", &format!("service-{n}")),
                author: people[n % people.len()].0.clone(),
            }
        })
        .collect()
}
