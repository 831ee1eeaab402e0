<!doctype html>
<html><head><title>About us</title></head>
<body><h1>We compare</h1><ul>
{foreach $carriers as $c}<li>{$c}</li>
{/foreach}</ul></body></html>
