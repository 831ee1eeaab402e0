// Parcel prices: the shop asks /quotes/ZONE, the tariff comes from the
// accounting's tariff service, the arithmetic is done here.
const WEIGHTS = [1, 2, 5, 10, 20, 31.5];

function zoneOf(r) {
    return r.uri.split('/').pop();
}

async function quote(r) {
    const zone = zoneOf(r);
    const reply = await r.subrequest('/_tariff/' + zone);
    if (reply.status !== 200) {
        r.return(reply.status, 'no tariff for ' + zone + '\n');
        return;
    }
    const tariff = JSON.parse(reply.responseText);
    const prices = WEIGHTS.map(kg => ({
        kg: kg,
        price: Math.round(tariff.base + tariff.perKg * kg * (kg > 10 ? 0.8 : 1)),
    }));
    r.headersOut['Content-Type'] = 'application/json';
    r.return(200, JSON.stringify({ zone: zone, valid: tariff.valid, prices: prices }) + '\n');
}

function zone(r) {
    const id = zoneOf(r);
    let sum = 0;
    for (let i = 0; i < id.length; i++) {
        sum += id.charCodeAt(i);
    }
    r.headersOut['Content-Type'] = 'application/json';
    r.return(200, JSON.stringify({ zone: id, days: 1 + sum % 4, island: sum % 7 === 0 }) + '\n');
}

function check(r) {
    const parcel = JSON.parse(r.requestText);
    const girth = 2 * (parcel.w + parcel.h) + parcel.l;
    r.headersOut['Content-Type'] = 'application/json';
    r.return(200, JSON.stringify({ parcel: parcel.id, girth: girth, bulky: girth > 300 }) + '\n');
}

export default { quote, zone, check };
