// Labels are drawn in a child process (worker-farm), so that drawing does not hold up the API.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Parcel } from './parcels'
const workerFarm = require('worker-farm')

// the QR code library keeps memory: a child is replaced after so many labels (0: never)
const labelsPerChild = Number(process.env.LABELS_PER_CHILD ?? 0) || Infinity

const farm = workerFarm({
  maxConcurrentWorkers: 1,
  maxConcurrentCallsPerWorker: 1,
  maxCallsPerWorker: labelsPerChild,
  maxRetries: 3,
  autoStart: false
}, join(__dirname, 'label-worker.js'))

const log = process.env.TIMING_LOG

export function render (parcel: Parcel): Promise<string> {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    farm(parcel, (error: Error | null, svg: string, info: { pid: number, nth: number, up: number }) => {
      if (log) {
        const took = performance.now() - start
        appendFileSync(log, `${Date.now()} ${took.toFixed(1)} ${info?.pid} ${info?.nth} ${info?.up}\n`)
      }
      if (error) reject(error)
      else resolve(svg)
    })
  })
}

export function addressOnly (parcel: Parcel): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="420" height="600">` +
    `<text y="380">${parcel.carrier} ${parcel.id}</text>` +
    `<text y="420">${parcel.street}</text><text y="450">${parcel.town}</text></svg>`
}

export async function warmUp () {
  await render({ id: 0, carrier: 'north', weight: 1, street: '-', town: '-' })
}

export const close = () => workerFarm.end(farm)
