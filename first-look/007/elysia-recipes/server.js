const { Elysia } = require('elysia');

const RECIPES = Array.from({ length: 9000 }, (_, i) => ({
  id: i,
  name: `Recipe ${i}`,
  minutes: 10 + (i * 13) % 110,
  ingredients: Array.from({ length: 8 }, (_, k) => `ingredient ${(i * 17 + k * 31) % 400}`),
  steps: `Take ingredient ${(i * 17) % 400} and stir. `.repeat(6),
}));

new Elysia()
  .get('/recipe/:id', ({ params }) => RECIPES[Number(params.id) % RECIPES.length])
  .get('/find', ({ query }) => {
    const wanted = `ingredient ${query.with}`;
    return RECIPES.filter((r) => r.ingredients.some((x) => x.startsWith(wanted)))
      .map((r) => ({ ...r, score: r.ingredients.filter((x) => x === wanted).length * 100 - r.minutes }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 40);
  })
  .get('/export', () => RECIPES.slice(0, 500))
  .listen({ port: Number(process.env.PORT), hostname: '127.0.0.1' });
