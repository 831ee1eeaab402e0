<?php

namespace App\Http\Controllers;

use App\Models\Order;
use App\Models\Product;
use Illuminate\Http\Request;
use Illuminate\Routing\Controller;
use Illuminate\Support\Facades\DB;

class ShopController extends Controller
{
    public function health()
    {
        return ['status' => 'up', 'products' => Product::count()];
    }

    public function show(Product $product)
    {
        return [
            'product' => $product,
            'orders' => $product->orders()->orderByDesc('id')->limit(5)->get(),
        ];
    }

    public function order(Request $request, Product $product)
    {
        $started = microtime(true);
        DB::statement('PRAGMA synchronous = NORMAL');
        $order = DB::transaction(function () use ($request, $product) {
            $order = Order::create([
                'product_id' => $product->id,
                'pieces' => max(1, (int) $request->input('pieces')),
                'price' => $product->price,
                'reference' => (string) $request->input('reference'),
            ]);
            $product->decrement('stock', $order->pieces);

            return $order;
        });
        if ($log = getenv('TIMING_LOG')) {
            file_put_contents($log, sprintf("order %.6f took=%.2f\n", $started,
                1e3 * (microtime(true) - $started)), FILE_APPEND);
        }

        return response()->json($order, 201);
    }
}
