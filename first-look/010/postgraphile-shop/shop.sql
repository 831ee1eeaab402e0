create table maker (id int primary key, name text not null, country text not null);

insert into maker select g, 'Maker ' || g, (array['NO','PT','IT','DK','FR'])[1 + g % 5] from generate_series(1, 60) g;

create table article (id int primary key, maker_id int not null references maker (id), name text not null, cents int not null);

create index on article (maker_id);

insert into article select g, 1 + g % 60, 'Article ' || g, 500 + g * 37 % 9000 from generate_series(1, 6000) g;

create table review (id int primary key, article_id int not null references article (id), stars int not null, words text not null);

create index on review (article_id);

insert into review select g, 1 + g % 6000, 1 + g % 5, repeat('fine ', 3 + g % 9) from generate_series(1, 60000) g;

vacuum analyze;

