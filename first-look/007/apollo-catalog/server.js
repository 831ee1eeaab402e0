const { ApolloServer } = require('@apollo/server');
const { startStandaloneServer } = require('@apollo/server/standalone');

const typeDefs = `
  type Author { id: ID! name: String! books: [Book!]! }
  type Book { id: ID! title: String! year: Int! pages: Int! author: Author! }
  type Query { books(shelf: Int!): [Book!]! book(id: ID!): Book }
`;
const authors = Array.from({ length: 500 }, (_, i) => ({ id: i, name: `Author ${i}` }));
const books = Array.from({ length: 20000 }, (_, i) => ({ id: i, title: `Book ${i}`, year: 1900 + (i % 120), pages: 80 + (i * 37) % 700, authorId: (i * 7) % 500 }));
const byAuthor = new Map();
for (const b of books) byAuthor.set(b.authorId, [...(byAuthor.get(b.authorId) || []), b]);

const resolvers = {
  Query: {
    books: (_, { shelf }) => books.slice(shelf * 60, shelf * 60 + 60),
    book: (_, { id }) => books[Number(id)],
  },
  Book: { author: async (b) => authors[b.authorId] },
  Author: { books: (a) => byAuthor.get(a.id).slice(0, 5) },
};

const server = new ApolloServer({ typeDefs, resolvers });
startStandaloneServer(server, { listen: { port: Number(process.env.PORT), host: '127.0.0.1' } });
