const names = ['A. Okafor', 'B. Lindqvist', 'C. Moreau', 'D. Petrov', 'E. Sato', 'F. Keller', 'G. Nowak', 'H. Silva', 'I. Haddad', 'J. Byrne'];

export function loadPasses() {
  const passes = new Map();
  for (let i = 0; i < 30; i++) {
    const id = (i % 3 ? 'EX' : 'VI') + (4100 + i * 7);
    passes.set(id, { id, holder: names[i % names.length], kind: i % 3 ? 'exhibitor' : 'visitor', days: i % 2 ? ['tue', 'wed'] : ['tue', 'wed', 'thu', 'fri'] });
  }
  return passes;
}

export const gates = {
  north: { gate: 'north', opens: '09:00', closes: '18:00', lanes: 12 },
  south: { gate: 'south', opens: '09:00', closes: '18:00', lanes: 8 },
  east: { gate: 'east', opens: '10:00', closes: '16:00', lanes: 4 },
  staff: { gate: 'staff', opens: '05:30', closes: '22:00', lanes: 2 },
};
