<?php
/**
 * This file is part of workerman.
 *
 * Licensed under The MIT License
 * For full copyright and license information, please see the MIT-LICENSE.txt
 * Redistributions of files must retain the above copyright notice.
 *
 * @author    walkor<walkor@workerman.net>
 * @copyright walkor<walkor@workerman.net>
 * @link      http://www.workerman.net/
 * @license   http://www.opensource.org/licenses/mit-license.php MIT License
 */
namespace Workerman\Lib;

/**
 * Do not use Workerman\Lib\Timer.
 * Please use Workerman\Timer.
 * This class is only used for compatibility with workerman 3.*
 * @package Workerman\Lib
 */
class Timer extends \Workerman\Timer {}