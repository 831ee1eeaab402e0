const { execFileSync } = require('node:child_process');
const { createRequire } = require('node:module');
const express = createRequire(process.env.MODULES + '/')('express');

const notes = [];
for (let i = 0; i < 3200; i++) {
  notes.push({ id: i, title: 'note ' + i, text: (i * 2654435761 % 4294967296).toString(36).repeat(4) + ' ' + 'lorem ipsum dolor '.slice(i % 9) });
}

const app = express();
app.get('/', (req, res) => res.send('ok'));
app.get('/notes/:id', (req, res) => res.json(notes[req.params.id % notes.length]));
app.get('/archive.xz', (req, res) => {
  const packed = execFileSync('xz', ['-6', '-c'], { input: JSON.stringify(notes) });
  res.type('application/x-xz').send(packed);
});
app.listen(process.env.PORT, '127.0.0.1', () => console.log('listening on', process.env.PORT));
