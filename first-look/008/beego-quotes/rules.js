var base = {};
function price(sku, qty) {
  var n = 0;
  for (var i = 0; i < sku.length; i++) n = (n * 31 + sku.charCodeAt(i)) % 9973;
  var p = 5 + n / 100;
  if (qty >= 100) p *= 0.8; else if (qty >= 10) p *= 0.9;
  if (n % 7 === 0) p *= 0.95;
  return Math.round(p * qty * 100) / 100;
}
function plan(region) {
  var sum = 0, steps = [1, 5, 10, 50, 100, 500];
  for (var i = 0; i < 1600; i++)
    for (var j = 0; j < steps.length; j++) sum += price(region + "-" + i, steps[j]);
  return sum;
}
