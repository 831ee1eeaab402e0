require_relative 'app'

PriceList.start
use Traced if TRACE
run Prices
