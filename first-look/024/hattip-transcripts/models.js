// Models of the documents. What the store gives is text; dates, references and numbers are made of it by a schema.
const casts = {
  string: (v) => (v == null ? null : String(v).normalize("NFC").trim()),
  integer: (v) => (v == null ? null : Number.parseInt(v, 10)),
  date: (v) => (v == null ? null : new Date(v)),
  // sentences with their number of words, for the reading view and for the shares
  prose: (v) => casts.string(v).replace(/\s+/g, " ").split(/(?<=[.!?]) /)
    .map((sentence) => ({ text: sentence, words: sentence.split(" ").length })),
  array: (v) => (Array.isArray(v) ? v.map((x) => casts.string(x)) : []),
};

export class Speech {
  static schema = {
    meeting: "integer", speaker: "string", party: "string", item: "string", began: "date", ended: "date",
    text: "prose", tags: "array", words: "integer", source: "string", recorded: "date", language: "string",
    edition: "integer", approved: "date", room: "string", notes: "array",
  };

  constructor(id, values) {
    this.id = id;
    Object.assign(this, values);
  }

  seconds() {
    return Math.round((this.ended - this.began) / 1000);
  }

  summary() {
    return { id: this.id, speaker: this.speaker, began: this.began, words: this.words, beginning: this.text.slice(0, 3).map((sentence) => sentence.text).join(" ") };
  }
}

function model(Model, row) {
  const document = JSON.parse(row.doc);
  const values = {};
  for (const [name, type] of Object.entries(Model.schema)) {
    values[name] = casts[type](document[name]);
  }
  return new Model(row.id, values);
}

// DESERIALIZE_BATCH models are made in one turn of the loop; 0: all of them
const batch = Number(process.env.DESERIALIZE_BATCH ?? 0);
const turn = () => new Promise((resolve) => setImmediate(resolve));

export async function deserialize(Model, rows) {
  if (batch === 0) return rows.map((row) => model(Model, row));
  const models = [];
  for (const row of rows) {
    models.push(model(Model, row));
    if (models.length % batch === 0) await turn();
  }
  return models;
}
