package Shop;
use Moose;
use Catalyst::Runtime 5.90;
use Catalyst;
extends 'Catalyst';
our $VERSION = '1.0';
__PACKAGE__->config(name => 'Shop', disable_component_resolution_regex_fallback => 1);
__PACKAGE__->setup();
1;
