import { join } from 'node:path'
import { appendFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'

const DIR = process.env.BROCHURE_DIR

export default class BrochuresController {
  async show({ params, response }) {
    const file = join(DIR, `tour-${Number(params.id)}.pdf`)
    if (process.env.TRACE_FS) {
      // our own check: how long one stat() takes from here
      const t = process.hrtime.bigint()
      await stat(file)
      appendFileSync(process.env.TRACE_FS, `${Number(process.hrtime.bigint() - t) / 1e6}\n`)
    }
    response.header('content-type', 'application/pdf')
    return response.download(file)
  }
}
