// Client of the card provider.
const base = `http://127.0.0.1:${process.env.CARD_PORT}`

export async function charge (site, guest, cents) {
  const res = await fetch(`${base}/charges`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reference: `site-${site}-${guest}`, cents })
  })
  if (!res.ok) throw new Error(`card provider: ${res.status}`)
  return (await res.json()).id
}
