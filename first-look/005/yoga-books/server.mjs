import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';

const authors = Array.from({ length: 200 }, (_, i) => ({ id: i, name: `Author ${i}`, born: 1900 + (i % 90) }));
const books = Array.from({ length: 4000 }, (_, i) => ({ id: i, title: `Book ${i}`, year: 1950 + (i % 70), pages: 100 + ((i * 31) % 700), authorId: (i * 7) % 200 }));

const yoga = createYoga({
  logging: false,
  landingPage: false,
  schema: createSchema({
    typeDefs: /* GraphQL */ `
      type Author { id: ID! name: String! born: Int! books: [Book!]! }
      type Book { id: ID! title: String! year: Int! pages: Int! author: Author! }
      type Query { shelf(year: Int!): [Book!]! author(id: Int!): Author search(text: String!): [Book!]! }
    `,
    resolvers: {
      Query: {
        shelf: (_, { year }) => books.filter((b) => b.year === year),
        author: (_, { id }) => authors[id],
        search: (_, { text }) => books.filter((b) => b.title.includes(text)).slice(0, 100),
      },
      Author: { books: (a) => books.filter((b) => b.authorId === a.id) },
      Book: { author: (b) => authors[b.authorId] },
    },
  }),
});
const server = createServer(yoga);
server.keepAliveTimeout = 65_000;
server.listen(Number(process.argv[2]), '127.0.0.1');
