<?php

namespace Config;

$routes = Services::routes();
$routes->setDefaultNamespace('App\Controllers');
$routes->setAutoRoute(false);

$routes->get('health', 'Courses::health');
$routes->get('courses/(:num)', 'Courses::show/$1');
$routes->get('account', 'Account::index');
$routes->post('basket/(:num)', 'Account::basket/$1');
