namespace cpp profiles

struct Summary {
  1: i32 id
  2: i32 revision
  3: i32 bytes
  4: string note
}

exception NotFound {
  1: i32 id
}

service Profiles {
  /** what the shop knows of a customer */
  Summary load(1: i32 id) throws (1: NotFound missing)

  /** a customer changed something: a new revision goes to the profile cache */
  Summary save(1: i32 id, 2: string note) throws (1: NotFound missing)

  /** delivery zones of a postal code, a table in memory */
  list<string> zones(1: i32 code)
}

/** runs on the contracts host: what a trade customer may buy */
service Agreements {
  /** of these articles, the ones that the customer's agreement covers */
  list<i32> covered(1: i32 customer, 2: list<i32> articles)
}
