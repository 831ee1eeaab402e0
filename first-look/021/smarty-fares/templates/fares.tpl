<!doctype html>
<html><head><title>Fares {$route}</title></head>
<body>
<h1>{$route}</h1>
<table>
<tr><th>Flight</th><th>Cabin</th><th>Price</th></tr>
{foreach $fares as $fare}
<tr class="{if $fare@first}best{else}other{/if}"><td>{$fare.flight}</td><td>{$fare.cabin}</td><td>{($fare.cents / 100)|string_format:"%.2f"} {$currency}</td></tr>
{/foreach}
</table>
</body></html>
