export interface Department { code: string; name: string; mailbox: string; opens: string; closes: string; }

const NAMES: [string, string][] = [
  ['billing', 'Bills and refunds'], ['meter', 'Meter readings'], ['moving', 'Moving home'], ['outage', 'Faults and outages'],
  ['solar', 'Feed-in and solar'], ['heat', 'District heating'], ['press', 'Press office'], ['water', 'Water quality'],
];

export class Departments {
  private readonly map = new Map<string, Department>(NAMES.map(([code, name]) => [code, {
    code, name, mailbox: `${code}@stadtwerke.example`, opens: '08:00', closes: '18:00',
  }]));

  list() { return [...this.map.values()]; }
  find(code: string) { return this.map.get(code); }
}
