<?php

namespace App\Exceptions;

use Illuminate\Foundation\Exceptions\Handler as ExceptionHandler;

class Handler extends ExceptionHandler
{
    protected function shouldReturnJson($request, \Throwable $e)
    {
        return true;
    }
}
