<?php

namespace App\Controllers;

class Account extends BaseController
{
    private function open()
    {
        $begin   = microtime(true);
        $session = session();
        if (getenv('COURSES_TRACE')) {
            file_put_contents(getenv('COURSES_TRACE'), sprintf("%.3f session %.1f\n", microtime(true), (microtime(true) - $begin) * 1e3), FILE_APPEND);
        }

        return $session;
    }

    public function index()
    {
        $session = $this->open();

        return $this->response->setJSON([
            'name'   => $session->get('name') ?? 'guest',
            'basket' => array_keys($session->get('basket') ?? []),
        ]);
    }

    public function basket($id)
    {
        $session        = $this->open();
        $basket         = $session->get('basket') ?? [];
        $basket[(int) $id] = 1;
        $session->set('basket', array_slice($basket, -8, null, true));

        return $this->response->setStatusCode(201)->setJSON(['courses' => count($basket)]);
    }
}
