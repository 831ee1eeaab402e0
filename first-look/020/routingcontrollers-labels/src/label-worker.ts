// Draws one label: the address and the parcel's QR code.
import type { Parcel } from './parcels'
const QRCode = require('qrcode/lib/core/qrcode') // without the PNG and canvas parts

let nth = 0

function draw (parcel: Parcel): string {
  const number = String(parcel.id).padStart(8, '0')
  const { size, data } = QRCode.create(`SP${number}`, { errorCorrectionLevel: 'M' }).modules
  let path = ''
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) if (data[y * size + x]) path += `M${x} ${y}h1v1h-1z`
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="420" height="600">` +
    `<path transform="translate(40 40) scale(6)" d="${path}"/><text y="380">${parcel.carrier} ${number}</text>` +
    `<text y="420">${parcel.street}</text><text y="450">${parcel.town}</text></svg>`
}

module.exports = (parcel: Parcel, done: (e: Error | null, svg?: string, info?: object) => void) => {
  try {
    done(null, draw(parcel), { pid: process.pid, nth: ++nth, up: Math.round(process.uptime() * 1000) })
  } catch (e) {
    done(e as Error)
  }
}
