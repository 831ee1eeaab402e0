create table meter (id int primary key, customer text, reading int);
insert into meter select i, 'customer ' || i, i * 37 % 9000 from generate_series(1, 5000) i;
create table upload (id serial primary key, done boolean);
-- the statement of a customer is put together by the archive, which answers after a while
create function statement(c int) returns table (customer text, reading int) language sql as $$
  select m.customer, m.reading from meter m, (select pg_sleep(0.28)) w where m.id = c
$$;
