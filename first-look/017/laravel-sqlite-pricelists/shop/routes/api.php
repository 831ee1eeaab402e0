<?php

use App\Http\Controllers\ShopController;
use Illuminate\Support\Facades\Route;

Route::get('/health', [ShopController::class, 'health']);
Route::get('/products/{product}', [ShopController::class, 'show']);
Route::post('/products/{product}/orders', [ShopController::class, 'order']);
