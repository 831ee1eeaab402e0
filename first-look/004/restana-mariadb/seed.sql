create database stock;
create table stock.product (sku varchar(16) primary key, name varchar(80) not null, qty int not null, views int not null default 0) engine=innodb;
insert into stock.product (sku, name, qty) values ('s1','Kettle',90000),('s2','Toaster',90000),('s3','Lamp',90000),('s4','Chair',90000),('s5','Desk',90000),('s6','Shelf',90000);
create user 'stock'@'%' identified by 'stock';
grant all on stock.* to 'stock'@'%';
