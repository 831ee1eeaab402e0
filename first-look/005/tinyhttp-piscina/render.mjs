// a drawing of the given side, softened `passes` times
export default function render({ id, side, passes }) {
  let a = new Float32Array(side * side);
  for (let i = 0; i < a.length; i++) a[i] = ((i * 2654435761 + id * 40503) >>> 8) & 255;
  for (let p = 0; p < passes; p++) {
    const b = new Float32Array(a.length);
    for (let y = 1; y < side - 1; y++) {
      for (let x = 1; x < side - 1; x++) {
        let s = 0;
        for (let dy = -1; dy <= 1; dy++) for (let dx = -1; dx <= 1; dx++) s += a[(y + dy) * side + x + dx];
        b[y * side + x] = s / 9;
      }
    }
    a = b;
  }
  return Uint8Array.from(a);
}
