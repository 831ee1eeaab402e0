create database pictures character set utf8mb4;
use pictures;
create table picture (
  id int primary key,
  title varchar(80) not null,
  author varchar(60) not null,
  taken date not null,
  views int not null default 0,
  votes int not null default 0
) engine=InnoDB;
insert into picture (id, title, author, taken)
  select seq, concat('Picture ', seq), concat('member', seq % 37), date_add('2024-01-01', interval seq % 600 day) from seq_1_to_2000;
create table view_sample (
  id bigint auto_increment primary key,
  picture int not null,
  seen timestamp not null default current_timestamp
) engine=InnoDB;
create user 'votes'@'%' identified by 'votes';
grant all on pictures.* to 'votes'@'%';
