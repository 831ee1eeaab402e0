<?php
echo "<h1>Welcome</h1>", str_repeat("<p>news</p>", 50);
