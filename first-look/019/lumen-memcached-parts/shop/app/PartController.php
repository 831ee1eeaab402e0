<?php

namespace App;

use Illuminate\Support\Facades\Cache;
use Illuminate\Support\Facades\DB;
use Laravel\Lumen\Routing\Controller;

class PartController extends Controller
{
    public function health()
    {
        return response()->json(['ok' => true]);
    }

    /** The whole product page: from the cache, else from the database. */
    public function show(int $id)
    {
        $t = hrtime(true);
        $miss = 0;
        $part = Cache::remember("part:$id", 600, function () use ($id, &$miss) {
            $miss = 1;
            return $this->load($id);
        });
        if (!empty($_SERVER['TIMING_LOG'])) {
            file_put_contents($_SERVER['TIMING_LOG'], sprintf("%.3f %d part %d miss %d %.2f ms\n",
                microtime(true), getmypid(), $id, $miss, (hrtime(true) - $t) / 1e6), FILE_APPEND);
        }
        return $part === null ? response()->json(['error' => 'no such part'], 404) : response()->json($part);
    }

    /** Stock must be exact: always from the database. */
    public function stock(int $id)
    {
        $row = DB::selectOne('select id, stock from parts where id = ?', [$id]);
        return $row === null ? response()->json(['error' => 'no such part'], 404) : response()->json($row);
    }

    private function load(int $id): ?array
    {
        $part = DB::selectOne('select id, name, price, description from parts where id = ?', [$id]);
        if ($part === null) {
            return null;
        }
        $fits = DB::select('select model, year from fits where part_id = ? order by model, year', [$id]);
        return ['part' => (array) $part, 'fits' => array_map(fn ($f) => (array) $f, $fits)];
    }
}
