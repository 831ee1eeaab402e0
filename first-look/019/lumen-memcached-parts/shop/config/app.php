<?php
return ['name' => 'parts', 'env' => 'production', 'debug' => false, 'timezone' => 'UTC', 'locale' => 'en', 'key' => ''];
