import { appendFileSync } from 'node:fs'
import sqlite3 from 'sqlite3'

class Audit {
  open(file) {
    return new Promise((resolve, reject) => {
      this.db = new sqlite3.Database(file, (err) => {
        if (err) return reject(err)
        this.db.configure('busyTimeout', 5000)
        this.db.exec('PRAGMA synchronous = NORMAL', (e) => (e ? reject(e) : resolve()))
      })
    })
  }

  record(method, url, ip) {
    const t = process.hrtime.bigint()
    this.db.run(
      'INSERT INTO views (at, method, url, ip) VALUES (?, ?, ?, ?)',
      [Date.now(), method, url, ip],
      (err) => {
        if (err) console.error(`audit: ${err.message}`)
        if (process.env.TRACE_AUDIT) {
          appendFileSync(process.env.TRACE_AUDIT, `${Number(process.hrtime.bigint() - t) / 1e6}\n`)
        }
      }
    )
  }

  close() {
    return new Promise((resolve) => this.db.close(resolve))
  }
}

export const audit = new Audit()
