use strict; use warnings;
use FindBin;
use Shop;
Shop->psgi_app;
