"use strict";
// Reads the values under the pointer; the page says everything without it.
for (const area of document.querySelectorAll(".area")) {
  const reading = area.closest("figure").querySelector(".reading");
  const value = (scale, place) => {
    const [kind, low, high] = scale.split(",").map((part, i) => (i ? Number(part) : part));
    if (kind === "log") return low * Math.pow(high / low, place);
    if (kind === "tail") return 1 - Math.pow(1 - high, place);
    return low + place * (high - low);
  };
  const x = area.dataset.x, y = area.dataset.y;
  const show = (number) => Number(number.toPrecision(3)).toString();
  area.addEventListener("pointermove", (event) => {
    const box = area.getBoundingClientRect();
    const clamp = (place) => Math.min(1, Math.max(0, place));
    const across = value(x, clamp((event.clientX - box.left) / box.width));
    const up = value(y, clamp((box.bottom - event.clientY) / box.height));
    const left = x.startsWith("tail") ? "p" + Number((across * 100).toFixed(3)) : show(across);
    reading.textContent = left + " · " + show(up);
  });
  area.addEventListener("pointerleave", () => { reading.textContent = ""; });
}
