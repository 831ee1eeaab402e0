create table blocks (number bigint primary key, hash varchar(255), gas int);
insert into blocks select i, '0x' || to_hex(i), 504000 from generate_series(1, 5000) i;
create table transactions (hash varchar(255) primary key, block_number bigint not null, index int not null, value bigint not null);
create index on transactions (block_number);
alter table blocks owner to explorer;
alter table transactions owner to explorer;
analyze;
