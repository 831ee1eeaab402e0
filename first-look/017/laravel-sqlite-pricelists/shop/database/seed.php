<?php

touch(__DIR__.'/shop.sqlite');
$capsule = require __DIR__.'/capsule.php';
$db = $capsule->getConnection();
$db->statement('PRAGMA journal_mode = WAL');
$schema = $capsule->getConnection()->getSchemaBuilder();
$schema->create('products', function ($table) {
    $table->increments('id');
    $table->string('name');
    $table->integer('supplier_id')->index();
    $table->decimal('price', 8, 2);
    $table->integer('stock');
    $table->timestamps();
});
$schema->create('orders', function ($table) {
    $table->increments('id');
    $table->integer('product_id')->index();
    $table->integer('pieces');
    $table->decimal('price', 8, 2);
    $table->string('reference');
    $table->timestamps();
});
$schema->create('imports', function ($table) {
    $table->increments('id');
    $table->integer('supplier_id');
    $table->string('state');
    $table->timestamps();
});
mt_srand(4);
$db->transaction(function () use ($db) {
    for ($id = 1; $id <= 900; $id++) {
        $db->table('products')->insert([
            'id' => $id, 'name' => "Article $id", 'supplier_id' => $id % 45,
            'price' => mt_rand(300, 9900) / 100, 'stock' => 100000,
        ]);
    }
});
